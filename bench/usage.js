/** Tells the benchmark the processor time of the process: `node --import usage.js …`. */
process.on('message', () => process.send({ usage: process.cpuUsage() }))
process.channel.unref()
