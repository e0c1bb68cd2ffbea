import { Command, CommanderError } from 'commander'
import type { MarketChange } from '../../bus-schemas/markets.js'

/** What is asked of a market. */
export type MarketOrder =
  | { readonly kind: 'list' }
  | { readonly kind: 'add'; readonly file: string }
  | {
      readonly kind: 'change'
      readonly market: string
      readonly change: Exclude<MarketChange, { kind: 'show' }>
      readonly reason: string
    }

/** What is asked for on the command line. */
export type OperatorTask =
  | { readonly kind: 'market'; readonly order: MarketOrder }
  | { readonly kind: 'status'; readonly json: boolean }
  | { readonly kind: 'inspect'; readonly subject: string; readonly json: boolean }
  | { readonly kind: 'check-deployment'; readonly senders: SenderOptions; readonly json: boolean }

/** Addresses of the keys that send transactions; what is absent comes from the keys in the environment. */
export interface SenderOptions {
  readonly executor?: string
  readonly depositSubmitter?: string
  readonly withdrawalSubmitter?: string
}

/** The command line asks for help, or cannot be read; what there is to say is printed. */
export class CommandLineEnded extends Error {
  override readonly name = 'CommandLineEnded'

  /** 0 for help, 2 for bad usage. */
  constructor(readonly exitCode: 0 | 2) {
    super(exitCode === 0 ? 'help was asked for' : 'bad usage')
  }
}

const CHANGES = {
  pause: 'refuse new orders of a market; cancels and settlements go on',
  resume: 'take orders again',
  disable: 'refuse new orders, cancel the resting ones, and list the market no longer',
  enable: 'list a disabled market again',
} as const

/** The reason in the log when none is given. */
const NO_REASON = 'unspecified'
const REASON = ['--reason <text>', 'why, for the log', NO_REASON] as const
const AS_JSON = ['--json', 'as JSON, for a program', false] as const

/** Reads the words behind `./venue`. Throws CommandLineEnded after help or an error was printed. */
export function readTask(words: readonly string[]): OperatorTask {
  let task: OperatorTask | undefined
  const program = new Command('./venue').exitOverride().helpCommand(false).showHelpAfterError()
  program.configureHelp({ styleTitle: (title) => title.toLowerCase() })
  addMarket(program, (order) => (task = { kind: 'market', order }))
  addStatus(program, (json) => (task = { kind: 'status', json }))
  addInspect(program, (subject, json) => (task = { kind: 'inspect', subject, json }))
  addCheck(program, (senders, json) => (task = { kind: 'check-deployment', senders, json }))
  try {
    program.parse(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) throw new CommandLineEnded(error.exitCode === 0 ? 0 : 2)
    throw error
  }
  if (task === undefined) throw new CommandLineEnded(2)
  return task
}

function addMarket(program: Command, given: (order: MarketOrder) => void): void {
  const market = program
    .command('market')
    .description('list, add or change the markets of a running venue')
    .addHelpText(
      'after',
      examples(
        './venue market set cNGN-USDC taker_fee_bps=30 --reason tariff',
        './venue market pause cNGN-PERP',
      ),
    )
  market
    .command('list')
    .description('every market with its state and its rules')
    .action(() => given({ kind: 'list' }))
  market
    .command('add <file.json>')
    .description('add the rows of a file to the market file; the venue opens the markets')
    .action((file: string) => given({ kind: 'add', file }))
  market
    .command('set <market> <rule=value...>')
    .description('change rules; they hold for matches from then on')
    .option(...REASON)
    .action((name: string, words: readonly string[], { reason }: { readonly reason: string }) => {
      const fields = readFields(words, (why) => market.error(`error: ${why}`))
      given({ kind: 'change', market: name, change: { kind: 'set', fields }, reason })
    })
  for (const kind of Object.keys(CHANGES) as (keyof typeof CHANGES)[])
    market
      .command(`${kind} <market>`)
      .description(CHANGES[kind])
      .option(...REASON)
      .action((name: string, { reason }: { readonly reason: string }) =>
        given({ kind: 'change', market: name, change: { kind }, reason }),
      )
}

function addStatus(program: Command, given: (json: boolean) => void): void {
  program
    .command('status')
    .description(
      'processes, markets, lags, holds and money of a running venue; exit code 1 if it is not well',
    )
    .option(...AS_JSON)
    .addHelpText(
      'after',
      examples('./venue status', 'DATA_DIR=/var/lib/venue ./venue status --json'),
    )
    .action(({ json }: { readonly json: boolean }) => given(json))
}

function addInspect(program: Command, given: (subject: string, json: boolean) => void): void {
  program
    .command('inspect <what>')
    .description(
      'everything known of an order id, a nonce, an action hash, a settlement id or a transaction hash, from the databases to the chain',
    )
    .option(...AS_JSON)
    .addHelpText('after', examples('./venue inspect 0b1c…-order-id', './venue inspect 0x3f5e…'))
    .action((subject: string, { json }: { readonly json: boolean }) => given(subject, json))
}

function addCheck(program: Command, given: (senders: SenderOptions, json: boolean) => void): void {
  program
    .command('check-deployment')
    .description(
      'check on the chain of RPC_URL what a venue needs of the deployment in DEPLOYMENT_FILE; a line each, exit code 1 if one is missing',
    )
    .option('--executor <address>', 'settles matches; default: of EXECUTOR_PRIVATE_KEY')
    .option('--deposit-submitter <address>', 'default: of DEPOSIT_SUBMITTER_PRIVATE_KEY')
    .option('--withdrawal-submitter <address>', 'default: of WITHDRAWAL_SUBMITTER_PRIVATE_KEY')
    .option(...AS_JSON)
    .addHelpText(
      'after',
      examples(
        'RPC_URL=https://node.example DEPLOYMENT_FILE=deployment.json ./venue check-deployment --executor 0x12…',
      ),
    )
    .action(({ json, ...senders }: SenderOptions & { readonly json: boolean }) =>
      given(senders, json),
    )
}

const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n\nDATA_DIR names the venue; it defaults to ./var.`

function readFields(
  words: readonly string[],
  refuse: (why: string) => never,
): Record<string, string> {
  const fields = words.map((word): [string, string] => {
    const at = word.indexOf('=')
    if (at <= 0) return refuse(`${word} is not <rule>=<value>`)
    return [word.slice(0, at), word.slice(at + 1)]
  })
  const names = fields.map(([name]) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) refuse(`${repeated} is given twice`)
  return Object.fromEntries(fields)
}
