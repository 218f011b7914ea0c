// The small changes that `npm run mutants` makes: another operator, another limit, a condition that always holds, a part left out.
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

/**
 * Every mutant of a file: the expression that it replaces, by `start` and `end`, and by what. `isOfModule`: it is evaluated
 * when the module is loaded.
 */
export function mutantsOf(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return [...changesIn(program, { source, isOfModule: true })].map((change) => ({
    file,
    line: source.slice(0, change.start).split('\n').length,
    column: change.start - source.lastIndexOf('\n', change.start),
    from: source.slice(change.start, change.end),
    ...change,
  }));
}

/** The source with one of its mutants. */
export const mutated = (source, { start, end, to }) =>
  source.slice(0, start) + to + source.slice(end);

/** The source with all of these mutants, each on while `isMutant` of its id is true. */
export function switched(source, mutants, from = 0, end = source.length) {
  const [outer, ...others] = mutants.toSorted((a, b) => a.start - b.start || b.end - a.end);
  if (outer === undefined) return source.slice(from, end);
  const isInner = (it) => it.end <= outer.end;
  const inner = switched(source, others.filter(isInner), outer.start, outer.end);
  const rest = switched(
    source,
    others.filter((it) => !isInner(it)),
    outer.end,
    end,
  );
  return `${source.slice(from, outer.start)}(globalThis.isMutant?.(${outer.id}) ? (${outer.to}) : (${inner}))${rest}`;
}

/** Types are not changed. */
const transparent = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);
const skipped = ({ type = '' }) =>
  type === 'ImportDeclaration' || (type.startsWith('TS') && !transparent.has(type));
/** Not expressions that could be replaced. */
const skippedParts = ['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType', 'tag'];

function* changesIn(node, place) {
  if (Array.isArray(node)) {
    for (const inner of node) yield* changesIn(inner, place);
    return;
  }
  if (typeof node !== 'object' || node === null || skipped(node)) return;
  if (node.type === 'ChainExpression') return yield* changesInChain(node.expression, place);
  const isDelayed = /Function/.test(node.type) || node.type === 'PropertyDefinition';
  const within = isDelayed ? { ...place, isOfModule: false } : place;
  for (const change of changesOf[node.type]?.(node, within.source) ?? [])
    yield { ...change, isOfModule: within.isOfModule };
  for (const [name, inner] of Object.entries(node)) {
    const isName = name === 'key' && !node.computed;
    if (!isName && !skippedParts.includes(name)) yield* changesIn(inner, within);
  }
}

/** Only what stands in brackets: a part of an optional chain that is replaced would no longer end it. */
function* changesInChain(node, place) {
  if (node.type === 'CallExpression') {
    yield* changesIn(node.arguments, place);
    yield* changesInChain(node.callee, place);
  } else if (node.type === 'MemberExpression') {
    if (node.computed) yield* changesIn(node.property, place);
    yield* changesInChain(node.object, place);
  } else if (node.type === 'TSNonNullExpression') yield* changesInChain(node.expression, place);
  else yield* changesIn(node, place);
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
  SpreadElement: ({ argument: { type, start, end } }) =>
    type === 'ParenthesizedExpression' || type === 'LogicalExpression'
      ? [{ start, end, to: '[]' }]
      : [],
  ExpressionStatement: ({ expression: { type, start, end } }) =>
    type === 'CallExpression' ? [{ start, end, to: 'undefined' }] : [],
};

function operatorChange({ start, end, left, right, operator }, source) {
  const to = otherOperator[operator];
  const isOfTexts = operator === '+' && [left, right].some(isText);
  if (to === undefined || isOfTexts || left.type === 'PrivateIdentifier') return [];
  const [one, other] = [left, right].map((it) => `(${source.slice(it.start, it.end)})`);
  return [{ start, end, to: `${one} ${to} ${other}` }];
}

const isText = ({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string';

function conditionChanges({ test: { start, end } }) {
  return ['true', 'false'].map((to) => ({ start, end, to }));
}

function literalChange({ start, end, value, raw }) {
  if (typeof value === 'boolean') return [{ start, end, to: String(!value) }];
  return typeof value === 'number' ? [{ start, end, to: `(${raw} + 1)` }] : [];
}

function callChanges({ start, end, callee, arguments: given }, source) {
  if (callee.type !== 'MemberExpression' || callee.computed || callee.optional) return [];
  const { property, object } = callee;
  if (droppedMethods.has(property.name) && given.length <= 1)
    return [{ start, end, to: `${source.slice(object.start, object.end)}.slice()` }];
  if (!Object.hasOwn(otherMethod, property.name)) return [];
  const to = otherMethod[property.name];
  return [
    { start, end, to: source.slice(start, property.start) + to + source.slice(property.end, end) },
  ];
}
