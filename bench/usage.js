/** Tells the benchmark the processor time of the process, or its heap after a collection: `node --import usage.js …`. */
process.on('message', what => {
  if (what === 'heap') globalThis.gc()
  process.send(what === 'heap' ? { heap: process.memoryUsage().heapUsed } : { usage: process.cpuUsage() })
})
process.channel.unref()
