module example.com/closing

go 1.18
