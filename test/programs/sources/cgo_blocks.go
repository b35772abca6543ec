// Blocks from C's malloc are filled by one goroutine, sent through a channel, checked and freed by another, on whichever
// thread that runs; C calls back into Go while it holds blocks; threads locked to goroutines end with them.
package main

/*
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint64_t visited(uint64_t, void*);

static void* filled(size_t size, unsigned char with) {
  unsigned char* block = malloc(size);
  if (block) memset(block, with, size);
  return block;
}
static int is_filled(const unsigned char* block, size_t size, unsigned char with) {
  for (size_t i = 0; i < size; ++i)
    if (block[i] != with) return 0;
  return 1;
}
static uint64_t call_back(uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    char* block = calloc(1, 16 + i);
    sum += visited(i, block) + (uint64_t)(unsigned char)block[15 + i];
    block = realloc(block, 4000 + i);
    free(block);
  }
  return sum;
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
)

//export visited
func visited(number C.uint64_t, block unsafe.Pointer) C.uint64_t {
	*(*byte)(unsafe.Add(block, 15+uintptr(number))) = byte(number)
	return number * 3
}

type block struct {
	at   unsafe.Pointer
	size int
	with byte
}

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	runtime.GOMAXPROCS(8)
	for round := 0; round < rounds; round++ {
		blocks := make(chan block, 256)
		var makers, takers sync.WaitGroup
		var mutex sync.Mutex
		bytes, wrong := 0, 0
		for maker := 0; maker < 8; maker++ {
			makers.Add(1)
			go func(maker int) {
				defer makers.Done()
				runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
				for i := 0; i < 500; i++ {
					size := 1 + (i*7919+maker*131)%(1<<(4+uint(i%11)))
					blocks <- block{C.filled(C.size_t(size), C.uchar(i+maker)), size, byte(i + maker)}
				}
			}(maker)
			takers.Add(1)
			go func() {
				defer takers.Done()
				for b := range blocks {
					good := C.is_filled((*C.uchar)(b.at), C.size_t(b.size), C.uchar(b.with)) == 1
					C.free(b.at)
					mutex.Lock()
					bytes += b.size
					if !good {
						wrong++
					}
					mutex.Unlock()
				}
			}()
		}
		makers.Wait()
		close(blocks)
		takers.Wait()
		text := C.CString(fmt.Sprint("round ", round))
		again := C.GoString(text)
		C.free(unsafe.Pointer(text))
		fmt.Println(again, bytes, wrong, C.call_back(300))
	}
}
