import tnf.Probe;

/** Checks the promises of tnf.Probe: prints nothing if all hold, and records two events of "values". */
public final class Check {
    private static void refused(String what, String name, String... arguments) {
        try {
            Probe.define(name, "test", arguments);
        } catch (IllegalArgumentException e) {
            return;
        }
        throw new AssertionError(what + ": was taken");
    }

    public static void main(String[] args) {
        refused("an unknown type", "bad", "n:int");
        refused("no type", "bad", "n");
        refused("17 arguments", "bad", "a:int8 ".repeat(17).trim().split(" "));
        if (args.length > 0)
            refused("a blank in a name", "two words");
        Probe p = Probe.define("values", "test", "i:int8", "u:uint64", "f:float64", "o:opaque",
            "s:string", "t:text", "y:uint8");
        p.hit(-1, -1L, 0.5, 255, "short", "\u00e9".repeat(1000), true);
        p.hit("x", null, null, new Object(), null, null, 1);
        p.hit(1, 2);
        p.hit();
        Probe one = Probe.define("one", "test", "s:text");
        one.hit(7);
    }
}
