// Adds up vitest's reports in a folder, and counts every further word as one failure.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.', ...failures] = process.argv.slice(2);
const sum = { passed: 0, failed: failures.length, skipped: 0 };

for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  sum.passed += report.numPassedTests;
  // A file that cannot be read, or a hook that throws, fails the run without failing a test.
  sum.failed += Math.max(report.numFailedTests, report.success ? 0 : 1);
  sum.skipped += report.numPendingTests + report.numTodoTests;
}

process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
process.exitCode = sum.failed === 0 ? 0 : 1;
