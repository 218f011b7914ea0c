// The small changes that `npm run mutants` makes: another operator, another limit, a condition that always holds.
import { parseSync } from 'vite';

const otherOperator = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};
const otherMethod = {
  some: 'every',
  every: 'some',
  plus: 'minus',
  minus: 'plus',
  times: 'div',
  gt: 'gte',
  gte: 'gt',
  lt: 'lte',
  lte: 'lt',
  min: 'max',
  max: 'min',
  trim: 'toString',
  toLowerCase: 'toString',
  toUpperCase: 'toString',
  startsWith: 'endsWith',
  find: 'findLast',
};
/** Left out, so that nothing is filtered or sorted. */
const droppedMethods = new Set(['filter', 'sort', 'toSorted']);

/** Every mutant of a file: its source, and what was changed where. */
export function mutantsOf(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return [...changesIn(program, source)].map(({ start, end, to }) => ({
    file,
    line: source.slice(0, start).split('\n').length,
    column: start - source.lastIndexOf('\n', start),
    from: source.slice(start, end),
    to,
    source: source.slice(0, start) + to + source.slice(end),
  }));
}

/** Types are not changed. */
const skipped = (node) => node.type?.startsWith('TS') || node.type === 'ImportDeclaration';

function* changesIn(node, source) {
  if (Array.isArray(node)) {
    for (const inner of node) yield* changesIn(inner, source);
    return;
  }
  if (typeof node !== 'object' || node === null || skipped(node)) {
    const inner = node?.type === 'TSAsExpression' || node?.type === 'TSSatisfiesExpression';
    if (inner) yield* changesIn(node.expression, source);
    return;
  }
  yield* changesOf[node.type]?.(node, source) ?? [];
  for (const inner of Object.values(node)) yield* changesIn(inner, source);
}

const changesOf = {
  BinaryExpression: operatorChange,
  LogicalExpression: operatorChange,
  ConditionalExpression: conditionChanges,
  IfStatement: conditionChanges,
  Literal: literalChange,
  UnaryExpression: ({ start, operator, argument, end }, source) =>
    operator === '!' || operator === '-'
      ? [{ start, end, to: source.slice(argument.start, argument.end) }]
      : [],
  CallExpression: callChanges,
};

function operatorChange({ start, end, left, right, operator }, source) {
  const to = otherOperator[operator];
  const at = source.indexOf(operator, left.end);
  if (to === undefined || at >= right.start) return [];
  if (operator !== '??') return [{ start: at, end: at + operator.length, to }];
  // Without parentheses, ?? beside another operator is a syntax error.
  const [one, other] = [left, right].map((it) => `(${source.slice(it.start, it.end)})`);
  return [{ start, end, to: `(${one} ${to} ${other})` }];
}

function conditionChanges({ test: { start, end } }) {
  return ['true', 'false'].map((to) => ({ start, end, to }));
}

function literalChange({ start, end, value, raw }) {
  if (typeof value === 'boolean') return [{ start, end, to: String(!value) }];
  return typeof value === 'number' ? [{ start, end, to: `(${raw} + 1)` }] : [];
}

function callChanges({ callee, arguments: given, end }, source) {
  if (callee.type !== 'MemberExpression' || callee.computed) return [];
  const { start, end: nameEnd, name } = callee.property;
  const to = otherMethod[name];
  const renamed = to && Object.hasOwn(otherMethod, name) ? [{ start, end: nameEnd, to }] : [];
  const isDropped = droppedMethods.has(name) && given.length <= 1;
  const target = source.slice(callee.object.start, callee.object.end);
  return isDropped ? [{ start: callee.object.start, end, to: `${target}.slice()` }] : renamed;
}
