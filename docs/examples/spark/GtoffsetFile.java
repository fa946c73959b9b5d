import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The offsets of one group in one topic, kept by the job itself in the file STORE/group/topic/gtoffset. docs/file-format.md is
 * the contract. A job that keeps it so loses nothing, and after a crash repeats one batch at most:
 *
 * <pre>
 *   before the start   gtoffset clamp -g GROUP -t TOPIC -s STORE --stored --execute
 *   at the start       file = GtoffsetFile.load(folder), and read on from file.offsets()
 *   after each batch   file.save(ends), and only if its output is complete
 * </pre>
 *
 * The clamp brings offsets that Kafka no longer has, or does not have yet, back into range, and makes the file on the first run.
 *
 * The file's lock is an flock(2), which Java cannot take (its FileLock is a lock of another kind), so whoever starts the job takes
 * it; it is held for as long as the process lives:
 *
 * <pre>
 *   flock -n -F STORE/group/topic/gtoffset.lock java ...
 * </pre>
 */
final class GtoffsetFile {
  private static final String MAGIC = "# gtoffset 1";

  private final Path path;
  private final List<String> headers = new ArrayList<>(); // without the first line, the time and the count
  private final SortedMap<Integer, Long> offsets = new TreeMap<>(); // by partition, the next record to read
  private final Map<Integer, String> keys = new TreeMap<>(); // by partition, what else its line says: " key=value ..."

  private GtoffsetFile(Path path) {
    this.path = path;
  }

  /** Reads the file in the folder STORE/group/topic. One that is missing, not whole, or in another form is an exception. */
  static GtoffsetFile load(Path folder) throws IOException {
    GtoffsetFile file = new GtoffsetFile(folder.resolve("gtoffset"));
    String text = new String(Files.readAllBytes(file.path), StandardCharsets.UTF_8);
    String[] lines = text.split("\n");
    for (int i = 1; i < lines.length - 1; i++) {
      if (!lines[i].startsWith("#")) {
        file.readEntry(lines[i]);
      } else if (!lines[i].startsWith("# saved ")) {
        file.headers.add(lines[i]);
      }
    }
    if (!lines[0].equals(MAGIC) || !text.endsWith(file.count())) {
      throw new IOException(file.path + " is not a whole gtoffset file");
    }
    return file;
  }

  private void readEntry(String line) throws IOException {
    String[] field = line.split("[ \t]+", 3);
    if (field.length < 2 || !field[0].matches("[0-9]+") || !field[1].matches("[0-9]+")
        || offsets.put(Integer.valueOf(field[0]), Long.valueOf(field[1])) != null) {
      throw new IOException(path + ": bad line: " + line);
    }
    for (String key : field.length < 3 ? new String[0] : field[2].split("[ \t]+")) {
      if (!key.startsWith("epoch=")) { // of the record before: it does not outlive the offset
        keys.merge(Integer.valueOf(field[0]), " " + key, String::concat);
      }
    }
  }

  /** By partition, the next record to read. */
  SortedMap<Integer, Long> offsets() {
    return new TreeMap<>(offsets);
  }

  /** Replaces the file by one with these offsets, each one more than the last record processed. Other partitions keep theirs. */
  void save(Map<Integer, Long> next) throws IOException {
    offsets.putAll(next);
    StringBuilder text = new StringBuilder(MAGIC).append('\n');
    headers.forEach(line -> text.append(line).append('\n'));
    text.append("# saved ").append(Instant.now().truncatedTo(ChronoUnit.MILLIS)).append('\n');
    offsets.forEach((partition, offset) ->
        text.append(partition).append(' ').append(offset).append(keys.getOrDefault(partition, "")).append('\n'));
    replace(text.append(count()).toString().getBytes(StandardCharsets.UTF_8));
  }

  /** The last line, which proves that nothing before it was cut off. */
  private String count() {
    return "# entries " + offsets.size() + "\n";
  }

  /** Whatever happens, the old file or the new one stands whole: a new one is written beside it, synced, and renamed over it. */
  private void replace(byte[] text) throws IOException {
    Path target = path.toRealPath(); // where a symbolic link leads to
    Path folder = target.getParent();
    Path fresh = Files.createTempFile(folder, ".gtoffset.tmp-", "");
    try {
      PosixFileAttributes old = Files.readAttributes(target, PosixFileAttributes.class);
      PosixFileAttributeView view = Files.getFileAttributeView(fresh, PosixFileAttributeView.class);
      view.setGroup(old.group());
      view.setOwner(old.owner());
      view.setPermissions(old.permissions());
      try (FileChannel out = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
        for (ByteBuffer rest = ByteBuffer.wrap(text); rest.hasRemaining(); ) {
          out.write(rest);
        }
        out.force(true);
      }
      Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(fresh);
    }
    try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
      names.force(true); // the rename, too, outlives a power cut
    }
  }
}
