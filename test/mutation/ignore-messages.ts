import type { Ignorer, NodePath } from '@stryker-mutator/api/ignore'
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

/** What the ignorer reads of a place in the syntax tree. */
interface Place {
  readonly node: Node
  readonly parent?: Node
  readonly parentPath?: Place | null
}

interface Node {
  readonly type: string
  readonly callee?: Node
  /** Of a member: `log` and `warn` in `log.warn`. */
  readonly object?: Node
  readonly property?: Node
  readonly arguments?: readonly Node[]
  readonly name?: string
  readonly key?: Node
  readonly value?: unknown
}

const REASON = 'the text is for the log'

/** Functions whose texts become the message of an error. */
const FAILS = new Set(['assert', 'malformed', 'orUnreachable', 'unreachable'])
/** Marks a point for tests that crash there; the type knows the labels, and a test looks for each in the code. */
const CRASH = 'crash'
const LOGS = new Set(['log', 'logger'])
const LEVELS = new Set(['debug', 'info', 'warn', 'error', 'fatal'])

const isText = ({ type }: Node): boolean => type === 'StringLiteral' || type === 'TemplateLiteral'

const isLog = (callee: Node | undefined): boolean =>
  LOGS.has(callee?.object?.name ?? '') && LEVELS.has(callee?.property?.name ?? '')

/** Whether the text is the message of an error, of a line of the log, or the name of an error's class. */
function isMessage({ node, parent, parentPath }: Place): boolean {
  if (parent === undefined || !isText(node)) return false
  // A long text stands in pieces.
  if (parent.type === 'BinaryExpression') return isMessageCall(parentPath?.parent, parent)
  if (parent.type === 'ClassProperty') return parent.key?.name === 'name'
  return isMessageCall(parent, node)
}

function isMessageCall(call: Node | undefined, text: Node): boolean {
  if (call?.arguments?.includes(text) !== true) return false
  if (call.type === 'NewExpression') return true
  const name = call.callee?.name ?? ''
  return call.type === 'CallExpression' && (FAILS.has(name) || name === CRASH || isLog(call.callee))
}

/** Leaves the texts of errors, of the log and of crash points as they are: no caller reads them. */
const messages: Ignorer = {
  shouldIgnore: (path: NodePath) => (isMessage(path as Place) ? REASON : undefined),
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'messages', messages)]
