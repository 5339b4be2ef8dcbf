module tnf

go 1.19
