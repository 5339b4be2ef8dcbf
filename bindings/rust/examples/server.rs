//! A server that answers on a port of this machine: a line "cake" gets its price.
//!
//! usage: server [PORT [REQUESTS]]    (default: any port, told on standard output; for ever)
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

fn price(cake: &str) -> Option<u32> {
    let _span = tnf::span!("lookup", "catalogue", cake: &str = cake);
    [("apple", 320), ("brownie", 250)].iter().find(|c| c.0 == cake).map(|c| c.1)
}

fn serve(mut stream: TcpStream, number: u64) -> std::io::Result<()> {
    let mut span = tnf::span!("request", "web", id: u64 = number);
    let mut line = String::new();
    BufReader::new(stream.try_clone()?).read_line(&mut line)?;
    match price(line.trim()) {
        Some(price) => writeln!(stream, "{price}"),
        None => {
            span.set_error(404);
            writeln!(stream, "no such cake")
        }
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let port = arguments.first().copied().unwrap_or(0) as u16;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("{}", listener.local_addr()?.port());
    let most = arguments.get(1).copied().unwrap_or(u64::MAX);
    for (number, stream) in (1..=most).zip(listener.incoming()) {
        serve(stream?, number)?;
    }
    Ok(())
}
