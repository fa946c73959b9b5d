package clientconfig

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"hash"
)

// An encrypted private key of RFC 5208, in the one scheme that is in use (RFC 8018, PBES2): what "openssl pkcs8 -topk8" writes, and
// what Java reads as ssl.keystore.key with ssl.key.password.
type encryptedKey struct {
	Scheme struct {
		ID     asn1.ObjectIdentifier
		Params struct {
			KDF struct {
				ID     asn1.ObjectIdentifier
				Params kdfParams
			}
			Cipher struct {
				ID asn1.ObjectIdentifier
				IV []byte
			}
		}
	}
	Data []byte
}

type kdfParams struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

// maxKDF bounds the work that a file can ask for; openssl takes 2048, Java 10,000.
const maxKDF = 10_000_000

func checkRounds(n int) error {
	if n < 0 || n > maxKDF {
		return fmt.Errorf("asks for %d rounds of its password's hash, more than %d", n, maxKDF)
	}
	return nil
}

// decryptPKCS8 returns the key inside, or errPassword.
func decryptPKCS8(der []byte, password string) ([]byte, error) {
	var k encryptedKey
	unknown := errors.New("the key is encrypted in a way that is not supported; openssl pkcs8 -topk8 -in OLD -out NEW writes it anew")
	if rest, err := asn1.Unmarshal(der, &k); err != nil || len(rest) > 0 {
		return nil, unknown
	}
	p := k.Scheme.Params
	block, size := cipherOf(p.Cipher.ID)
	prf := prfOf(p.KDF.Params.PRF.Algorithm)
	if block == nil || prf == nil || k.Scheme.ID.String() != "1.2.840.113549.1.5.13" || p.KDF.ID.String() != "1.2.840.113549.1.5.12" {
		return nil, unknown
	}
	if password == "" {
		return nil, errPassword
	}
	if err := checkRounds(p.KDF.Params.Iterations); err != nil {
		return nil, err
	}
	key, err := pbkdf2.Key(prf, password, p.KDF.Params.Salt, p.KDF.Params.Iterations, size)
	if err != nil {
		return nil, unknown
	}
	b, err := block(key)
	if err != nil || len(p.Cipher.IV) != b.BlockSize() || len(k.Data) == 0 || len(k.Data)%b.BlockSize() != 0 {
		return nil, unknown
	}
	plain := make([]byte, len(k.Data))
	cipher.NewCBCDecrypter(b, p.Cipher.IV).CryptBlocks(plain, k.Data)
	pad := int(plain[len(plain)-1])
	if pad == 0 || pad > b.BlockSize() || pad > len(plain) {
		return nil, errPassword
	}
	return plain[:len(plain)-pad], nil
}

func cipherOf(id asn1.ObjectIdentifier) (block func([]byte) (cipher.Block, error), keySize int) {
	switch id.String() {
	case "2.16.840.1.101.3.4.1.2":
		return aes.NewCipher, 16
	case "2.16.840.1.101.3.4.1.22":
		return aes.NewCipher, 24
	case "2.16.840.1.101.3.4.1.42":
		return aes.NewCipher, 32
	case "1.2.840.113549.3.7":
		return des.NewTripleDESCipher, 24
	}
	return nil, 0
}

// prfOf is the hash of the key derivation; SHA-1 where none is named.
func prfOf(id asn1.ObjectIdentifier) func() hash.Hash {
	switch id.String() {
	case "", "1.2.840.113549.2.7":
		return sha1.New
	case "1.2.840.113549.2.9":
		return sha256.New
	case "1.2.840.113549.2.11":
		return sha512.New
	}
	return nil
}
