import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import tnf.Span;

/**
 * Answers on a port of this machine: a line "cake" gets its price.
 *
 * <p>usage: Server [PORT [REQUESTS]] (default: any port, told on standard output; for ever)
 */
public final class Server {
    private static final Span REQUEST = new Span("request", "web", "id:int64");
    private static final Span LOOKUP = new Span("lookup", "catalogue", "cake:text");
    private static final Map<String, Integer> PRICES = Map.of("apple", 320, "brownie", 250);

    private static Integer price(String cake) {
        try (Span.Begun span = LOOKUP.begin(cake)) {
            return PRICES.get(cake);
        }
    }

    private static void serve(Socket socket, long number) throws IOException {
        try (socket; Span.Begun span = REQUEST.begin(number)) {
            String line = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
            PrintStream out = new PrintStream(socket.getOutputStream(), true);
            Integer price = price(line == null ? "" : line.trim());
            if (price == null)
                span.error(404);
            out.println(price == null ? "no such cake" : price.toString());
        }
    }

    public static void main(String[] args) throws IOException {
        int port = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        long most = args.length > 1 ? Long.parseLong(args[1]) : Long.MAX_VALUE;
        try (ServerSocket server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
            System.out.println(server.getLocalPort());
            for (long number = 1; number <= most; number++)
                serve(server.accept(), number);
        }
    }
}
