/** Loaded before a process's own code: ends it when the process that started it is gone, however that ended. */
const CHECK_MS = 1_000;
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit(1);
}, CHECK_MS).unref();
