/** Loaded before everything else: each SIGUSR2 puts the process's monotonic clock a minute and a bit ahead. */
const real = process.hrtime.bigint.bind(process.hrtime);
let ahead = 0n;

process.hrtime.bigint = () => real() + ahead;
process.on('SIGUSR2', () => {
  ahead += 65_000_000_000n;
});
