/** Tells the benchmark the processor time of the process, on request: `node --import usage.js …`. */
process.on('message', () => process.send({ usage: process.cpuUsage() }))
process.channel.unref()
