/*
 * exceptions.cc - throws and catches through many functions, in many threads.
 */
#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int
deep(int n)
{
	std::string s(n, 'x');

	if (n == 0)
		throw std::runtime_error("deep");
	return deep(n - 1) + (int)s.size();
}

static long
caught(int rounds, int depth)
{
	long sum = 0;

	for (int i = 0; i < rounds; i++)
		try {
			deep(i % depth);
		} catch (const std::exception &e) {
			sum += i + e.what()[0];
		}
	return sum;
}

int
main()
{
	std::map<std::string, int> words;
	std::vector<std::thread> threads;
	std::vector<long> sums(8);
	std::regex pattern("a(b|c)*d");
	long sum = caught(5000, 40);

	for (int i = 0; i < 5000; i++) {
		std::ostringstream o;

		o << i * 7919 % 1009;
		words[o.str()] += i;
	}
	for (auto &w : words)
		sum += w.second * (long)w.first.size() * std::regex_match("abcbd", pattern);
	for (int i = 0; i < 8; i++)
		threads.emplace_back([&sums, i] { sums[i] = caught(2000, 30); });
	for (auto &t : threads)
		t.join();
	for (long s : sums)
		sum += s;
	try {
		std::stoi("x");
	} catch (std::invalid_argument &e) {
		std::printf("%ld %s\n", sum, e.what());
	}
}
