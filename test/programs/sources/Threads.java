import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.*;
import java.util.zip.*;

/** Producers hand direct buffers with compressed text to consumers, which check and drop them: native memory crosses threads. */
public class Threads {
  record Piece(int number, long sum, int size, ByteBuffer packed) {}

  static Piece pack(int number) {
    byte[] text = new byte[2_000 + number * 7919 % 60_000];
    Random random = new Random(number);
    for (int i = 0; i < text.length; i++) text[i] = (byte) ('a' + random.nextInt(6));
    CRC32 crc = new CRC32();
    crc.update(text);
    Deflater deflater = new Deflater(1 + number % 9);
    try {
      deflater.setInput(ByteBuffer.allocateDirect(text.length).put(text).flip());
      deflater.finish();
      ByteBuffer packed = ByteBuffer.allocateDirect(text.length + 100);
      while (!deflater.finished()) deflater.deflate(packed);
      return new Piece(number, crc.getValue(), text.length, packed.flip());
    } finally {
      deflater.end();
    }
  }

  static long unpack(Piece piece) throws DataFormatException {
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(piece.packed());
      ByteBuffer text = ByteBuffer.allocateDirect(piece.size());
      while (text.hasRemaining() && inflater.inflate(text) > 0) {}
      CRC32 crc = new CRC32();
      crc.update(text.flip());
      if (crc.getValue() != piece.sum()) throw new IllegalStateException("piece " + piece.number() + " comes back wrong");
      return crc.getValue() * 31 + piece.number();
    } finally {
      inflater.end();
    }
  }

  public static void main(String[] words) throws Exception {
    int rounds = Integer.parseInt(words[0]), pieces = 400;
    for (int round = 0; round < rounds; round++) {
      BlockingQueue<Piece> queue = new ArrayBlockingQueue<>(32);
      ExecutorService threads = Executors.newFixedThreadPool(8);
      List<Future<Long>> sums = new ArrayList<>();
      for (int p = 0; p < 4; p++) {
        int first = p + round * pieces;
        threads.submit(() -> { for (int n = first; n < (first / pieces + 1) * pieces; n += 4) queue.put(pack(n)); return null; });
        sums.add(threads.submit(() -> { long sum = 0; for (int n = 0; n < pieces / 4; n++) sum += unpack(queue.take()); return sum; }));
      }
      long sum = 0;
      for (Future<Long> part : sums) sum += part.get();
      threads.shutdown();
      List<Thread> brief = new ArrayList<>();
      LongSummaryStatistics seen = new LongSummaryStatistics();
      for (int t = 0; t < 200; t++) {
        int number = t;
        Thread thread = new Thread(() -> { int size = ByteBuffer.allocateDirect(1000 + number).capacity(); synchronized (seen) { seen.accept(size); } });
        brief.add(thread);
        thread.start();
      }
      for (Thread thread : brief) thread.join();
      System.gc();
      System.out.println(round + " " + sum + " " + seen);
    }
  }
}
