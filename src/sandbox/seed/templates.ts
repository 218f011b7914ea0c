import type { Row } from '../json.ts';
import type { Dataset } from './dataset.ts';
import type { Reference } from './reference.ts';
import { templateNames, widgets, widgetVersions } from './words.ts';

/** Quote templates and their widgets. */
export function makeTemplates(dataset: Dataset, reference: Reference): void {
  const blocks = makeWidgets(dataset);
  const random = dataset.random.fork('template');
  const language = dataset.profile.country === 'DE' ? 'de' : 'en';
  const count = Math.min(templateNames.length, dataset.count(templateNames.length));
  const rows = templateNames.slice(0, count).map((name, at) => ({
    id: random.id(),
    name,
    description: random.chance(0.7) ? `For quotes of the kind “${name}”.` : undefined,
    language: random.chance(0.8) ? language : random.pick(['fr', 'en', 'nl']),
    currency: dataset.profile.currency,
    dateFormat: language === 'de' ? 'DD.MM.YYYY' : 'MM/DD/YYYY',
    accentColor: random.pick(['#0b5fff', '#d9480f', '#2b8a3e', '#343a40']),
    font: random.pick(['Inter', 'Source Sans', 'Georgia']),
    showCover: random.chance(0.7),
    showUnitPrices: random.chance(0.8),
    showTotals: true,
    showManufacturer: random.chance(0.5),
    isDefault: at === 0,
    paymentTermId: random.pick(reference.paymentTerms).id,
    widgets: random.some(blocks, random.int(3, 7)),
    createdAt: dataset.moment(random, -900),
    updatedAt: dataset.moment(random, -random.int(0, 800)),
  }));
  dataset.add('quote_template', rows);
}

function makeWidgets(dataset: Dataset) {
  const random = dataset.random.fork('widget');
  const rows: Row[] = Array.from({ length: dataset.count(30) }, (_, at) => {
    const [kind, title, content] = widgets[at % widgets.length] ?? random.pick(widgets);
    const pass = Math.floor(at / widgets.length);
    return {
      id: random.id(),
      name: title + (widgetVersions[pass] ?? ` ${pass + 1}`),
      kind,
      title,
      content,
      language: dataset.profile.country === 'DE' ? 'de' : 'en',
      pageBreakBefore: random.chance(0.2),
      createdAt: dataset.moment(random, -800),
      updatedAt: dataset.moment(random, -random.int(0, 700)),
    };
  });
  dataset.add('quote_widget_template', rows);
  return rows.map(({ id, name }) => ({ id, name }));
}
