// Server answers on a port of this machine: a line "cake" gets its price.
//
// usage: server [PORT [REQUESTS]]    (default: any port, told on standard output; for ever)
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"

	"tnf"
)

var (
	request = tnf.NewSpan("request", "web", tnf.Int64("id"))
	lookup  = tnf.NewSpan("lookup", "catalogue", tnf.Text("cake"))
	prices  = map[string]int{"apple": 320, "brownie": 250}
)

func price(cake string) (int, bool) {
	defer lookup.Begin(tnf.S(cake)).End(0)
	p, found := prices[cake]
	return p, found
}

func serve(c net.Conn, number int64) {
	defer c.Close()
	span, status := request.Begin(tnf.I(number)), int64(0)
	line, _ := bufio.NewReader(c).ReadString('\n')
	if p, found := price(strings.TrimSpace(line)); found {
		fmt.Fprintln(c, p)
	} else {
		status = 404
		fmt.Fprintln(c, "no such cake")
	}
	span.End(status)
}

func number(i int, otherwise int64) int64 {
	if i < len(os.Args) {
		if n, err := strconv.ParseInt(os.Args[i], 10, 64); err == nil {
			return n
		}
	}
	return otherwise
}

func main() {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", number(1, 0)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	for n, most := int64(1), number(2, 1<<62); n <= most; n++ {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		serve(c, n)
	}
}
