import { startView } from '../shell/start.tsx';
import type { ViewProps } from '../shell/view.ts';
import { Change } from './change.tsx';
import { type ChangeData, changeOf } from './data.ts';

/** A result that a host sends again does not ask again. */
const ChangeView = ({ data, host }: ViewProps<ChangeData>) => (
  <main>
    <Change key={data.question?.secret ?? data.text} data={data} host={host} level="h1" />
  </main>
);

startView<ChangeData, unknown>({
  name: 'change',
  waiting: 'The change is being prepared, or you are asked about it elsewhere…',
  is: () => true,
  prepare: (_answer, result) => changeOf(result),
  mainCurrency: () => undefined,
  Component: ChangeView,
});
