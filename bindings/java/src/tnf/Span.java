package tnf;

/**
 * A pair of probes: NAME_start, with the arguments, and NAME_end with {@code error}.
 *
 * <pre>{@code
 * static final Span BAKE = new Span("bake", "oven", "id:int64");
 *
 * try (Span.Begun span = BAKE.begin(7)) {
 *     ...
 * }
 * }</pre>
 *
 * <p>tnfdump pairs starts and ends of one thread.
 */
public final class Span {
    private final Probe start, end;

    /**
     * Defines both probes.
     *
     * @param name without blanks and semicolons
     * @param keys words separated by blanks
     * @param arguments of the start, as {@link Probe#define} takes them
     */
    public Span(String name, String keys, String... arguments) {
        start = Probe.define(name + "_start", keys, arguments);
        end = Probe.define(name + "_end", keys, "error:int64");
    }

    /**
     * Records the start.
     *
     * @param values the arguments, as {@link Probe#hit(Object...)} takes them
     * @return what records the end when it is closed
     */
    public Begun begin(Object... values) {
        start.hit(values);
        return new Begun(end);
    }

    /**
     * Records the start of a span with one integer.
     *
     * @param a the value
     * @return what records the end when it is closed
     */
    public Begun begin(long a) {
        start.hit(a);
        return new Begun(end);
    }

    /** A span that has begun. */
    public static final class Begun implements AutoCloseable {
        private final Probe end;
        private long error;

        private Begun(Probe end) {
            this.end = end;
        }

        /**
         * Sets the error that the end will tell; 0, the default, is none.
         *
         * @param error a number
         */
        public void error(long error) {
            this.error = error;
        }

        @Override
        public void close() {
            end.hit(error);
        }
    }
}
