//! A request "TRACEPARENT CAKE" is passed on to the cellar (C), which has the flour.
//!
//! usage: price CELLAR-PORT    (prints its port, and ends after a request)
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};

fn ask(port: u16, header: &str, cake: &str) -> std::io::Result<String> {
    let mut cellar = TcpStream::connect(("127.0.0.1", port))?;
    let mut answer = String::new();
    writeln!(cellar, "{header} {cake}")?;
    BufReader::new(cellar).read_line(&mut answer)?;
    Ok(answer)
}

fn main() -> std::io::Result<()> {
    let cellar = std::env::args().nth(1).and_then(|a| a.parse().ok()).expect("usage: price PORT");
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    println!("{}", listener.local_addr()?.port());
    let (mut stream, _) = listener.accept()?;
    let mut line = String::new();
    BufReader::new(stream.try_clone()?).read_line(&mut line)?;
    let (header, cake) = line.trim().split_once(' ').unwrap_or(("", ""));
    let ids: Vec<&str> = header.split('-').collect();
    let (trace, parent) = if ids.len() == 4 { (ids[1], ids[2]) } else { ("", "") };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let span = format!("{:016x}", now | 1);

    // The probes that tnf::Layer hits for a program that uses the crate tracing.
    tnf::probe!("span_start", "otel", name: &str = "price", trace: &str = trace, span: &str = span.as_str(),
        parent: &str = parent);
    let answer = ask(cellar, &format!("00-{trace}-{span}-01"), cake)?;
    tnf::probe!("span_end", "otel", span: &str = span.as_str());
    write!(stream, "{answer}")
}
