/**
 * Runs beside a process that owns servers and cleans up when that process is gone, however it went: its stdin is a
 * pipe from the owner, which the operating system closes even after a SIGKILL. Plain JavaScript, because it has to
 * outlive whatever loads TypeScript.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';

const { kill, commands, remove } = JSON.parse(process.argv[2]);

process.stdin.resume();
process.stdin.once('close', () => {
  for (const pid of kill) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It had ended before its owner did.
    }
  }
  for (const { file, args, identity } of commands) spawnSync(file, args, { ...identity, stdio: 'ignore' });
  for (const folder of remove) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
