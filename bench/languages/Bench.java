import org.lttng.ust.LTTngUst;
import tnf.Probe;

/** The least nanoseconds of a hit with two integers: Bench tnf|lttng LOOPS, over 50 pieces. */
public final class Bench {
    static final Probe HIT = Probe.define("hit", "bench", "n:int64", "m:int64");

    static void tnf(int loops) {
        for (int i = 0; i < loops; i++)
            if (HIT.isOn())
                HIT.hit(i, 2);
    }

    static void lttng(int loops) {
        for (int i = 0; i < loops; i++)
            LTTngUst.tracepointIntInt("hit", i, 2);
    }

    public static void main(String[] args) {
        boolean ours = args[0].equals("tnf");
        int loops = Integer.parseInt(args[1]) / 50;
        double least = 1e9;
        if (!ours)
            LTTngUst.init();
        for (int piece = 0; piece < 60; piece++) {  // the first ten are compiled meanwhile
            long began = System.nanoTime();
            if (ours)
                tnf(loops);
            else
                lttng(loops);
            least = Math.min(least, (double) (System.nanoTime() - began) / loops);
        }
        System.out.println(least);
    }
}
