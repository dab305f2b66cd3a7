// Go with cgo: goroutines, on stacks of a few KB, that compute, call C, and are preempted by signals.
package main

/*
static long spin(long rounds) {
  long sum = 0;
  for (volatile long i = 0; i < rounds; i = i + 1) sum += i;
  return sum;
}
*/
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
)

func recurse(depth int) int {
	if depth == 0 {
		return 0
	}
	return recurse(depth-1) + 1
}

func main() {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGUSR1)
	var group sync.WaitGroup
	results := make([]int, 100)
	for i := 0; i < 100; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for j := 0; j < 20; j++ {
				results[i] += recurse(10 * j)
				C.spin(20000)
				for k := 0; k < 100000; k++ {
					results[i] ^= k & 0
				}
				if j%5 == 0 {
					runtime.GC()
				}
			}
		}(i)
	}
	group.Wait()
	sum := 0
	for _, result := range results {
		sum += result
	}
	syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
	fmt.Println("sum", sum, <-caught)
	func() {
		defer func() { fmt.Println("recovered:", recover() != nil) }()
		var nothing *int
		fmt.Println(*nothing)
	}()
}
