import type { Ignorer, NodePath } from '@stryker-mutator/api/ignore'
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

/** What the ignorer reads of a place in the syntax tree. */
interface Place {
  readonly node: Node
  readonly parent?: Node
}

interface Node {
  readonly type: string
  readonly callee?: Node
  readonly arguments?: readonly Node[]
  readonly name?: string
  readonly key?: Node
  readonly value?: unknown
}

const REASON = 'the text of an error is for the log'

/** Functions whose texts become the message of an error. */
const FAILS = new Set(['assert', 'malformed'])

const isText = ({ type }: Node): boolean => type === 'StringLiteral' || type === 'TemplateLiteral'

/** Whether the text is the message of an error or the name of its class. */
function isMessage({ node, parent }: Place): boolean {
  if (parent === undefined || !isText(node)) return false
  if (parent.type === 'ClassProperty') return parent.key?.name === 'name'
  const isArgument = parent.arguments?.includes(node) === true
  if (parent.type === 'NewExpression') return isArgument
  return isArgument && parent.type === 'CallExpression' && FAILS.has(parent.callee?.name ?? '')
}

/** Leaves the texts of operating errors and of broken invariants as they are: no caller reads them. */
const messages: Ignorer = {
  shouldIgnore: (path: NodePath) => (isMessage(path as Place) ? REASON : undefined),
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'messages', messages)]
