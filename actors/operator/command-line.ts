import { Argument, Command, CommanderError } from 'commander'
import type { MarketChange } from '../../bus-schemas/markets.js'
import { readCalendar } from '../../core/contracts/future-calendar.js'
import { JOURNAL_OWNERS, type JournalOwner } from '../../core/transaction-journal.js'
import type { BackupTask } from './backup/run-backup.js'
import type { RestoreTask } from './backup/run-restore.js'
import type { SealKey } from './backup/sealed-files.js'
import type { ExportTask } from './export/export-day.js'

/** What is asked of a market. */
export type MarketOrder =
  | { readonly kind: 'list' }
  | { readonly kind: 'history' }
  | { readonly kind: 'add'; readonly file: string; readonly reason: string }
  /** Unix seconds; absent: the next one by FUTURES_CALENDAR. */
  | { readonly kind: 'row'; readonly expirySec: number | undefined }
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
  | { readonly kind: 'bus-replicas'; readonly replicas: number }
  | { readonly kind: 'bus-users'; readonly dir: string }
  | {
      readonly kind: 'rotate-key'
      readonly role: JournalOwner
      readonly newKey: string | undefined
    }
  | { readonly kind: 'accept-foreign'; readonly txHash: string }
  | { readonly kind: 'check-deployment'; readonly senders: SenderAddresses; readonly json: boolean }
  | ({ readonly kind: 'deploy' } & DeployTask)
  | ({ readonly kind: 'backup' } & BackupTask)
  | ({ readonly kind: 'restore' } & RestoreTask)
  | ({ readonly kind: 'export' } & ExportTask)

/** A contract of the venue's own that is to be created; addresses as they were typed. */
export interface DeployTask {
  readonly contract: 'batch-executor'
  /** The file of the key that pays, and that owns the contract until it gives it away. */
  readonly keyFile: string
  /** May settle through it. */
  readonly executor: string
  /** Owns it afterwards. */
  readonly owner?: string
}

/** Addresses of the keys that send transactions; what is absent comes from the keys in the environment. */
export interface SenderAddresses {
  readonly executor?: string
  readonly depositSubmitter?: string
  readonly withdrawalSubmitter?: string
  readonly keeper?: string
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
  'accept-gap':
    'let a market trade again that was restored from a backup which lacks what came after it',
} as const

/** The reason in the log when none is given. */
const NO_REASON = 'unspecified'
const REASON = ['--reason <text>', 'why, for the log', NO_REASON] as const
const AS_JSON = ['--json', 'as JSON, for a program', false] as const

/** Reads the words after `./venue`. Throws CommandLineEnded after help or an error was printed. */
export function readTask(words: readonly string[]): OperatorTask {
  let task: OperatorTask | undefined
  const program = new Command('./venue').exitOverride().helpCommand(false).showHelpAfterError()
  program.configureHelp({ styleTitle: (title) => title.toLowerCase() })
  addMarket(program, (order) => (task = { kind: 'market', order }))
  addStatus(program, (json) => (task = { kind: 'status', json }))
  addInspect(program, (subject, json) => (task = { kind: 'inspect', subject, json }))
  addReplicas(program, (replicas) => (task = { kind: 'bus-replicas', replicas }))
  addRotate(program, (role, newKey) => (task = { kind: 'rotate-key', role, newKey }))
  addAcceptForeign(program, (txHash) => (task = { kind: 'accept-foreign', txHash }))
  addCheck(program, (senders, json) => (task = { kind: 'check-deployment', senders, json }))
  addDeploy(program, (given) => (task = { kind: 'deploy', ...given }))
  addBackup(program, (given) => (task = { kind: 'backup', ...given }))
  addRestore(program, (given) => (task = { kind: 'restore', ...given }))
  addExport(program, (given) => (task = { kind: 'export', ...given }))
  addBusUsers(program, (dir) => (task = { kind: 'bus-users', dir }))
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
    .description('every market with its state and its rules, and the next series of futures')
    .addHelpText('after', examples('./venue market list'))
    .action(() => given({ kind: 'list' }))
  market
    .command('history')
    .description('every registration: when, by whom, why, and of which markets')
    .addHelpText('after', examples('./venue market history'))
    .action(() => given({ kind: 'history' }))
  market
    .command('add <file.json>')
    .description(
      'register the markets of a file, which the venue opens; a row of a known market replaces its texts',
    )
    .option(...REASON)
    .addHelpText('after', examples('./venue market add new-market.json'))
    .action((file: string, { reason }: { readonly reason: string }) =>
      given({ kind: 'add', file, reason }),
    )
  market
    .command('row [expiry]')
    .description(
      'print the row of a series of futures for add, like the last one that is registered; without an expiry the next one by FUTURES_CALENDAR',
    )
    .addHelpText(
      'after',
      examples(
        './venue market row > next.json',
        './venue market row 2026-12-31T14:00Z > next.json',
      ),
    )
    .action((text: string | undefined) => given({ kind: 'row', expirySec: expiryIn(text, market) }))
  market
    .command('set <market> <rule=value...>')
    .description('change rules; they hold for matches from then on')
    .option(...REASON)
    .addHelpText(
      'after',
      examples(
        './venue market set cNGN-USDC taker_fee_bps=30 --reason tariff',
        './venue market set cNGN-USDC min_notional=1 open_order_limit=200',
      ),
    )
    .action((name: string, words: readonly string[], { reason }: { readonly reason: string }) => {
      const fields = readFields(words, (why) => market.error(`error: ${why}`))
      given({ kind: 'change', market: name, change: { kind: 'set', fields }, reason })
    })
  for (const kind of Object.keys(CHANGES) as (keyof typeof CHANGES)[])
    market
      .command(`${kind} <market>`)
      .description(CHANGES[kind])
      .option(...REASON)
      .addHelpText('after', examples(`./venue market ${kind} cNGN-USDC --reason maintenance`))
      .action((name: string, { reason }: { readonly reason: string }) =>
        given({ kind: 'change', market: name, change: { kind }, reason }),
      )
}

/** Undefined for no text. */
function expiryIn(text: string | undefined, market: Command): number | undefined {
  if (text === undefined) return undefined
  const read = readCalendar(text)
  const [expirySec] = Array.isArray(read) ? (read as readonly number[]) : []
  return expirySec ?? market.error(`error: ${text} is not a time such as 2026-12-31T14:00Z`)
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

function addRotate(
  program: Command,
  given: (role: JournalOwner, newKey: string | undefined) => void,
): void {
  program
    .command('rotate-key')
    .addArgument(new Argument('<process>', 'whose key').choices(JOURNAL_OWNERS))
    .argument('[file]', 'the key file that takes the place of the one in use')
    .description(
      'give a process that signs transactions another key; without a file: say how far the last rotation is, and end it when nothing of the old key is open',
    )
    .addHelpText(
      'after',
      examples(
        './venue rotate-key executor /etc/venue/keys/executor/key.new',
        './venue rotate-key executor',
      ),
    )
    .action((role: JournalOwner, file: string | undefined) => given(role, file))
}

function addBackup(program: Command, given: (task: BackupTask) => void): void {
  program
    .command('backup <directory>')
    .description(
      'capture the running venue into encrypted files of a new directory, without signing keys; docs/BACKUP.md',
    )
    .option('--recipient <age1...>', 'a key that opens it (age-keygen makes one); repeatable', also)
    .option('--passphrase-file <file>', 'a passphrase opens it, instead of a key')
    .addHelpText(
      'after',
      examples(
        './venue backup /backup/2026-03-01 --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
        'DATA_DIR=/var/lib/venue RPC_URL=http://node:8545 ./venue backup /backup/a --passphrase-file /etc/venue/backup',
      ),
    )
    .action((dir: string, options: KeyWords) => given({ dir, key: keyOf(options) }))
}

function addRestore(program: Command, given: (task: RestoreTask) => void): void {
  program
    .command('restore <directory>')
    .description(
      'put a backup back into an empty DATA_DIR and an empty bus, with the venue stopped, and compare it with the chain; docs/BACKUP.md',
    )
    .option('--identity <file>', 'the file with the secret key (age-keygen)')
    .option('--passphrase-file <file>', 'the passphrase')
    .option(
      '--nothing-since',
      'the venue answered nothing after this backup: continue without a gap if the chain does not contradict',
      false,
    )
    .addHelpText(
      'after',
      examples(
        './venue restore /backup/2026-03-01 --identity backup-key.txt',
        './venue restore /backup/2026-03-01 --identity backup-key.txt --nothing-since',
      ),
    )
    .action((dir: string, options: KeyWords & Pick<RestoreTask, 'nothingSince'>) =>
      given({ dir, key: keyOf(options), nothingSince: options.nothingSince }),
    )
}

function addExport(program: Command, given: (task: ExportTask) => void): void {
  program
    .command('export <date> <directory>')
    .description(
      'write the trades, candles, marks and funding of a day (UTC) into files of CSV and Parquet, beside a running venue; engine values',
    )
    .addHelpText('after', examples('./venue export 2026-11-21 /srv/history'))
    .action((date: string, dir: string) => given({ date, dir }))
}

interface KeyWords {
  readonly recipient?: readonly string[]
  readonly identity?: string
  readonly passphraseFile?: string
}

const also = (word: string, before: readonly string[] = []): string[] => [...before, word]

const keyOf = ({ recipient, identity, passphraseFile }: KeyWords): SealKey => ({
  ...(recipient !== undefined && { recipients: recipient }),
  ...(identity !== undefined && { identityFile: identity }),
  ...(passphraseFile !== undefined && { passphraseFile }),
})

function addReplicas(program: Command, given: (replicas: number) => void): void {
  program
    .command('bus-replicas')
    .description(
      'store every stream of the bus on so many servers of its cluster; the processes need the same NATS_REPLICAS',
    )
    .addArgument(new Argument('<count>', 'servers').choices(['1', '3', '5']))
    .addHelpText(
      'after',
      examples(
        'NATS_URL=tls://a:4322,tls://b:4322,tls://c:4322 NATS_CREDENTIALS=/etc/venue/bus ./venue bus-replicas 3',
      ),
    )
    .action((count: string) => given(parseInt(count, 10)))
}

function addAcceptForeign(program: Command, given: (txHash: string) => void): void {
  program
    .command('accept-foreign')
    .description(
      'settle again after another program has used the key of the executor: /readyz and the log name the transaction, which has to be final',
    )
    .addArgument(new Argument('<process>', 'whose key it used').choices(['executor']))
    .addArgument(new Argument('<hash>', 'of the foreign transaction, whose cause is known by now'))
    .addHelpText(
      'after',
      examples(
        './venue accept-foreign executor 0x5c50…',
        'EXECUTOR_URL=http://127.0.0.1:8081 EXECUTOR_SECRET_FILE=/etc/venue/keys/executor/secret ./venue accept-foreign executor 0x5c50…',
      ),
    )
    .action((_: string, hash: string, __: unknown, command: Command) => {
      if (!/^0x[0-9a-fA-F]{64}$/.test(hash)) command.error(`${hash} is not a hash of a transaction`)
      given(hash)
    })
}

function addBusUsers(program: Command, given: (dir: string) => void): void {
  program
    .command('bus-users')
    .description(
      'make the seeds of all users of the bus in a directory, and authorization.conf for nats-server; seeds that are there stay',
    )
    .requiredOption('--dir <dir>', 'the directory')
    .addHelpText('after', examples('./venue bus-users --dir /etc/venue/bus'))
    .action(({ dir }: { readonly dir: string }) => given(dir))
}

function addCheck(
  program: Command,
  given: (senders: SenderAddresses, json: boolean) => void,
): void {
  program
    .command('check-deployment')
    .description(
      'check on the chain of RPC_URL what a venue needs of the deployment in DEPLOYMENT_FILE, and try a match of each market, a deposit and withdrawals in simulations; a line each, exit code 1 if one is missing, 2 if one could not be checked',
    )
    .option('--executor <address>', 'settles matches; default: of EXECUTOR_KEY_FILE')
    .option('--deposit-submitter <address>', 'default: of DEPOSIT_SUBMITTER_KEY_FILE')
    .option('--withdrawal-submitter <address>', 'default: of WITHDRAWAL_SUBMITTER_KEY_FILE')
    .option('--keeper <address>', 'default: of KEEPER_KEY_FILE')
    .option(...AS_JSON)
    .addHelpText(
      'after',
      examples(
        'RPC_URL=https://node.example DEPLOYMENT_FILE=deployment.json ./venue check-deployment --executor 0x12…',
      ),
    )
    .action(({ json, ...senders }: SenderAddresses & { readonly json: boolean }) =>
      given(senders, json),
    )
}

function addDeploy(program: Command, given: (task: DeployTask) => void): void {
  program
    .command('deploy')
    .description(
      'create the contract of the venue that settles many matches in one transaction, for the matching of DEPLOYMENT_FILE on the chain of RPC_URL; one that the file names already is completed',
    )
    .addArgument(new Argument('<contract>', 'what').choices(['batch-executor']))
    .requiredOption(
      '--key-file <file>',
      'the key that pays and owns it, as a key file of a process',
    )
    .requiredOption('--executor <address>', 'may settle through it')
    .option('--owner <address>', 'owns it afterwards: the owner of matching, for example')
    .addHelpText(
      'after',
      examples(
        'RPC_URL=https://node.example DEPLOYMENT_FILE=deployment.json ./venue deploy batch-executor --key-file deployer --executor 0x12…',
      ),
    )
    .action((contract: DeployTask['contract'], options: Omit<DeployTask, 'contract'>) =>
      given({ contract, ...options }),
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
