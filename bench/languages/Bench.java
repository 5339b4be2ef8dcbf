import java.util.function.IntConsumer;
import tnf.Probe;

/**
 * The least nanoseconds of a hit with two integers, or of a native method that does nothing, over
 * 50 pieces: Bench tnf|lttng|floor LOOPS.
 */
public final class Bench {
    static final Probe HIT = Probe.define("hit", "bench", "n:int64", "m:int64");

    static void tnf(int loops) {
        for (int i = 0; i < loops; i++)
            if (HIT.isOn())
                HIT.hit(i, 2);
    }

    static native void nothing(long control, long a, long b);

    static void floor(int loops) {
        for (int i = 0; i < loops; i++)
            nothing(1, i, 2);
    }

    /** BenchLttng is compiled only where LTTng's classes are installed. */
    static IntConsumer lttng() throws ReflectiveOperationException {
        return (IntConsumer) Class.forName("BenchLttng").getDeclaredConstructor().newInstance();
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        IntConsumer piece = args[0].equals("tnf") ? Bench::tnf : args[0].equals("lttng") ? lttng() : Bench::floor;
        int loops = Integer.parseInt(args[1]) / 50;
        double least = 1e9;
        if (args[0].equals("floor"))
            System.loadLibrary("floor");
        for (int i = 0; i < 60; i++) {  // the first ten are compiled meanwhile
            long began = System.nanoTime();
            piece.accept(loops);
            least = Math.min(least, (double) (System.nanoTime() - began) / loops);
        }
        System.out.println(least);
    }
}
