/**
 * Loaded into the servers on Node before they start: counts the bytes that they allocate on the heap, which is the growth from one
 * collection to the next. Answers each message with the bytes so far.
 */
import { GCProfiler, getHeapStatistics } from 'node:v8'

let profiler = new GCProfiler()
let allocated = 0
/** What was in use after the last collection, or when it was last asked for. */
let used = getHeapStatistics().used_heap_size
profiler.start()

process.on('message', () => {
  const now = getHeapStatistics().used_heap_size
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    allocated += beforeGC.heapStatistics.usedHeapSize - used
    used = afterGC.heapStatistics.usedHeapSize
  }
  allocated += now - used
  profiler = new GCProfiler()
  profiler.start()
  used = getHeapStatistics().used_heap_size
  process.send(allocated)
})
// Asking is no reason to stay.
process.channel.unref()
