// Reads vitest's reports in a folder: prints every failure and every test that passed only when it was repeated, then
// their sum alone in the last line. Every further word is the name of a failed step, and counts as one failure; so do
// too many repeats.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Lines of a message that are printed; the whole message is further up in the log. */
const maxLines = 8;
/** More tests that passed only when they were repeated are a defect of the tests, or of the server. */
const maxRepeats = 3;

const [folder = '.', ...steps] = process.argv.slice(2);
const sum = { passed: 0, failed: steps.length, skipped: 0, repeated: 0 };

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const report = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  sum.passed += report.numPassedTests;
  // A file that cannot be read, or a hook that throws, fails the run without failing a test.
  sum.failed += Math.max(report.numFailedTests, report.success ? 0 : 1);
  sum.skipped += report.numPendingTests + report.numTodoTests;
  const name = file.replace(/\.json$/, '');
  for (const { title, message } of failuresIn(report))
    process.stdout.write(`failed (${name}): ${title}\n${indented(message)}`);
  const repeats = report.testResults.flatMap((each) => testsOf(each, isRepeated));
  for (const { title, message } of repeats)
    process.stdout.write(`repeated (${name}): ${title}\n${indented(message)}`);
  sum.repeated += repeats.length;
}

if (sum.repeated > 0)
  process.stdout.write(`Passed only when repeated: ${sum.repeated}, at most ${maxRepeats}\n`);
if (sum.repeated > maxRepeats) sum.failed += 1;
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
process.exitCode = sum.failed === 0 ? 0 : 1;

function failuresIn({ success, testResults }) {
  const failures = testResults.flatMap(failuresInFile);
  if (success || failures.length > 0) return failures;
  return [{ title: 'an error outside of all tests', message: '' }];
}

function failuresInFile(file) {
  const failed = testsOf(file, ({ status }) => status === 'failed');
  if (file.status !== 'failed' || failed.length > 0) return failed;
  const title = `${relative(process.cwd(), file.name)}, outside of its tests`;
  return [{ title, message: file.message }];
}

/** A test that failed first keeps the messages of that. */
function isRepeated({ status, failureMessages }) {
  return status === 'passed' && failureMessages.length > 0;
}

function testsOf({ name, assertionResults }, isMeant) {
  return assertionResults.filter(isMeant).map(({ ancestorTitles, title, failureMessages }) => ({
    title: [relative(process.cwd(), name), ...ancestorTitles, title].join(' > '),
    message: failureMessages.join('\n'),
  }));
}

/** The first lines of a message, without the stack. */
function indented(message) {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  return lines
    .slice(0, maxLines)
    .map((line) => `  ${line}\n`)
    .join('');
}
