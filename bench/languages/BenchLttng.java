import java.util.function.IntConsumer;
import org.lttng.ust.LTTngUst;

/** LTTng's tracepoint with the same two integers, for Bench. */
final class BenchLttng implements IntConsumer {
    BenchLttng() {
        LTTngUst.init();
    }

    @Override
    public void accept(int loops) {
        for (int i = 0; i < loops; i++)
            LTTngUst.tracepointIntInt("hit", i, 2);
    }
}
