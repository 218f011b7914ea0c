// Stores a snapshot of each day until it is killed, and prints each stored day.
import { addDays } from '../../../src/figures/days.ts';
import { localState } from '../../../src/state/files/local.ts';
import { dealsTakenAt } from '../history-deals.ts';
import { storedHistory } from '../stored-history.ts';

const [folder = '', firstDay = '', time = ''] = process.argv.slice(2);

for (let day = firstDay; ; day = addDays(day, 1)) {
  const takenAt = new Date(`${day}T${time}Z`);
  const history = storedHistory(localState(folder).snapshots('tenant'), 400, () => takenAt);
  await history.save(dealsTakenAt(takenAt), takenAt);
  process.stdout.write(`${day}\n`);
}
