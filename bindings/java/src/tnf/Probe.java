package tnf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A probe of TNF for Linux: off until prex or {@code TNF_ENABLE} switches it on.
 *
 * <pre>{@code
 * static final Probe RECIPE = Probe.define("recipe", "cache", "cake:text", "pieces:int32");
 *
 * if (RECIPE.isOn())
 *     RECIPE.hit("apple", 12);
 * }</pre>
 *
 * <p>A probe that is off costs a load and a comparison.  The libraries {@code libtnf_java.so} (on
 * {@code java.library.path}) and {@code libtnfprobe.so.1} are looked up when the first probe is
 * defined; without them all probes stay off.  Probes are safe for use by several threads.
 */
public final class Probe {
    /** The most arguments that a probe can have. */
    public static final int ARGUMENTS_MAX = 16;

    /* In the order of enum tnf_argument_kind of <tnf/runtime.h>, from 1. */
    private static final String[] KINDS = { "int8", "int16", "int32", "int64", "uint8", "uint16",
        "uint32", "uint64", "float32", "float64", "opaque", "string", "text" };
    private static final int FLOAT32 = 9, STRING = 12;
    private static final ByteBuffer OFF = ByteBuffer.allocateDirect(4);
    private static final boolean LOADED = load();

    private final ByteBuffer test;
    private final long control;
    private final byte[] kinds;
    private final boolean numbers;

    private Probe(long control, byte[] kinds) {
        ByteBuffer word = control != 0 ? test(control) : null;

        this.control = control;
        this.kinds = kinds;
        this.test = word != null ? word.order(ByteOrder.nativeOrder()) : OFF;
        boolean all = true;
        for (byte kind : kinds)
            all &= kind < FLOAT32 || kind == 11;
        numbers = all;
    }

    private static boolean load() {
        try {
            System.loadLibrary("tnf_java");
            return open();
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }

    /**
     * Makes a probe, or finds the one that was made with the same words.
     *
     * @param name without blanks and semicolons
     * @param keys words separated by blanks, by which prex and {@code TNF_ENABLE} choose probes
     * @param arguments names and types, "id:int64"; the types are int8 to int64, uint8 to uint64,
     *     float32, float64, opaque (an unsigned number, shown in hexadecimal), string (the first
     *     255 bytes are recorded) and text (up to 64 KiB)
     * @return the probe
     * @throws IllegalArgumentException if a word has a character that is not allowed, a type is
     *     unknown, or there are more than {@link #ARGUMENTS_MAX} arguments
     */
    public static Probe define(String name, String keys, String... arguments) {
        StackWalker.StackFrame caller = StackWalker.getInstance().walk(frames -> frames
            .dropWhile(f -> f.getClassName().startsWith("tnf.Probe") ||
                f.getClassName().equals("tnf.Span")).findFirst()).orElse(null);
        String detail = caller == null || caller.getFileName() == null ? "" :
            "file " + caller.getFileName() + ";line " + Math.max(caller.getLineNumber(), 0);
        String[] names = new String[arguments.length];
        byte[] kinds = new byte[arguments.length];

        if (arguments.length > ARGUMENTS_MAX)
            throw new IllegalArgumentException(name + ": " + arguments.length +
                " arguments: a probe has at most " + ARGUMENTS_MAX);
        for (int i = 0; i < arguments.length; i++) {
            int colon = arguments[i].lastIndexOf(':');
            names[i] = colon < 0 ? "" : arguments[i].substring(0, colon);
            for (int k = 0; k < KINDS.length && colon >= 0; k++)
                if (KINDS[k].equals(arguments[i].substring(colon + 1)))
                    kinds[i] = (byte)(k + 1);
            if (kinds[i] == 0)
                throw new IllegalArgumentException(name + ": " + arguments[i] +
                    ": write NAME:TYPE, with one of the types " + String.join(" ", KINDS));
        }
        long control = LOADED ? make(utf8(name), utf8(keys), utf8(detail), names, kinds) : 0;
        if (LOADED && control == 0)
            throw new IllegalArgumentException(name + ": " + keys +
                ": a name or a key has a character that is not allowed, or is too long");
        return new Probe(control, kinds);
    }

    static byte[] utf8(String s) {
        return (s + "\0").getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Asks before values are computed.
     *
     * @return true while somebody wants the events of the probe
     */
    public boolean isOn() {
        return test.getInt(0) != 0;
    }

    /** Records an event of a probe without arguments, if the probe is on. */
    public void hit() {
        if (isOn() && kinds.length == 0)
            hit2(control, 0, 0);
    }

    /**
     * Records an event of a probe with one integer, if the probe is on.
     *
     * @param a the value
     */
    public void hit(long a) {
        if (isOn() && numbers && kinds.length == 1)
            hit2(control, a, 0);
        else if (isOn())
            hit((Object)a);
    }

    /**
     * Records an event of a probe with two integers, if the probe is on.
     *
     * @param a the first value
     * @param b the second value
     */
    public void hit(long a, long b) {
        if (isOn() && numbers && kinds.length == 2)
            hit2(control, a, b);
        else if (isOn())
            hit((Object)a, (Object)b);
    }

    /**
     * Records an event if the probe is on.  A value that does not fit its type is recorded as
     * null or 0; if there are more or fewer values than arguments, nothing is recorded.
     *
     * @param values a Number, Boolean or Character for integers and floating point, any object's
     *     {@code toString()} for a string or text
     */
    public void hit(Object... values) {
        if (!isOn() || values.length != kinds.length)
            return;
        long[] words = new long[kinds.length];
        byte[][] texts = new byte[kinds.length][];
        for (int i = 0; i < kinds.length; i++) {
            Object v = values[i];
            if (kinds[i] >= STRING)
                texts[i] = v == null ? null : v.toString().getBytes(StandardCharsets.UTF_8);
            else if (kinds[i] == FLOAT32 || kinds[i] == FLOAT32 + 1)
                words[i] = Double.doubleToRawLongBits(v instanceof Number n ? n.doubleValue() : 0);
            else
                words[i] = v instanceof Number n ? n.longValue() :
                    v instanceof Boolean b ? (b ? 1 : 0) : v instanceof Character c ? c : 0;
        }
        hitAll(control, words, texts, kinds);
    }

    private static native boolean open();
    private static native long make(byte[] name, byte[] keys, byte[] detail, String[] names, byte[] kinds);
    private static native ByteBuffer test(long control);
    private static native void hit2(long control, long a, long b);
    private static native void hitAll(long control, long[] words, byte[][] texts, byte[] kinds);
}
