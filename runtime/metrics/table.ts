/** A metric of the venue: its kind, its labels, and what it says. Base units, as Prometheus advises: seconds, bytes. */
export interface MetricSpec {
  readonly kind: 'gauge' | 'counter' | 'histogram'
  readonly labels: readonly string[]
  /** The process that has it, by its name in the Procfile. */
  readonly process: string
  readonly help: string
}

const gauge = (process: string, labels: readonly string[], help: string) =>
  ({ kind: 'gauge', labels, process, help }) as const
const counter = (process: string, labels: readonly string[], help: string) =>
  ({ kind: 'counter', labels, process, help }) as const
const histogram = (process: string, labels: readonly string[], help: string) =>
  ({ kind: 'histogram', labels, process, help }) as const

const MARKET = ['market'] as const
/** The process that sends from it, and where to send funds. */
const WALLET = ['wallet', 'address'] as const

/**
 * Every metric of the venue, once: processes register them from here, and a test compares the dashboard, the alert rules
 * and docs/OPERATING.md with it. Each process has the metrics of Node besides (`process_*`, `nodejs_*`).
 */
export const METRICS = {
  venue_build_info: gauge(
    'gateway',
    ['version'],
    'Always 1; the label is the release that runs. Every other process has it too.',
  ),
  venue_secret_file_exposed: gauge(
    'gateway',
    ['file'],
    '1 while another user of the machine may read or change a file with a key, a seed or a secret of the process, else 0. Every other process has it too.',
  ),
  venue_http_request_seconds: histogram(
    'gateway',
    ['method', 'route', 'status'],
    'Time of an HTTP request until its answer is ready; the executor has it too.',
  ),
  venue_http_refusals_total: counter(
    'gateway',
    ['route', 'code'],
    'HTTP requests that were refused, by the code in the answer; the executor has it too.',
  ),
  venue_series_due_timestamp_seconds: gauge(
    'gateway',
    MARKET,
    'Unix time at which the next series of dated futures by FUTURES_CALENDAR should trade, while it is not listed; without a market when none follows, and then the end of the last one.',
  ),
  venue_order_durable_seconds: histogram(
    'gateway',
    [],
    'Time from an order in the gateway until its market has stored and answered it, or refused it.',
  ),
  venue_order_matched_seconds: histogram(
    'matchers',
    MARKET,
    'Time from a command in the log of the market until what follows from it is durable.',
  ),
  venue_settlement_seconds: histogram(
    'matchers',
    MARKET,
    'Time from a match until its outcome on chain is in the log.',
  ),
  venue_frame_seconds: histogram(
    'ws-fanout',
    MARKET,
    'Time from a durable block until its frames are given to the sockets.',
  ),
  venue_changes_total: counter(
    'matchers',
    ['market', 'kind', 'reason'],
    'Changes of orders, by kind; of cancels, holds and reverts also the reason.',
  ),
  venue_market_seq: gauge('matchers', MARKET, 'Sequence of the newest change of the market.'),
  venue_market_trades: gauge(
    'matchers',
    MARKET,
    'Number of the newest trade of the market; ids of trades and log positions are exact below 2^37.',
  ),
  venue_command_seq: gauge(
    'matchers',
    MARKET,
    'Newest message of the command log that is applied.',
  ),
  venue_matcher_ready: gauge(
    'matchers',
    MARKET,
    '1 while the matcher leads its market and nothing is wrong with it, else 0.',
  ),
  venue_market_held: gauge(
    'matchers',
    ['market', 'cause', 'reason'],
    '1 while this holds the market, so that nothing crosses: cause is facts (stale or missing prices among them), clock, chain, restored, operator, or matcher (this one has ended with exit code 78 and stays down, while another may lead); the reason of an operator is left out.',
  ),
  venue_pair_wait_seconds: gauge(
    'matchers',
    ['market', 'signer', 'other'],
    'How long two signers wait after the newest of two or more matches of theirs that failed without a reason that the chain shows; the five pairs that wait longest.',
  ),
  venue_pending_settlements: gauge('matchers', MARKET, 'Matches without an outcome on chain.'),
  venue_oldest_pending_settlement_seconds: gauge(
    'matchers',
    MARKET,
    'Age of the oldest match without an outcome on chain.',
  ),
  venue_late_settlements: gauge(
    'matchers',
    MARKET,
    'Matches without an outcome for longer than SETTLEMENT_LATE_SECONDS.',
  ),
  venue_checkpoint_timestamp_seconds: gauge(
    'matchers',
    MARKET,
    'Unix time of the newest checkpoint that this process wrote; until then of its start.',
  ),
  venue_checkpoint_failures_total: counter(
    'matchers',
    MARKET,
    'Checkpoints that were not written.',
  ),
  venue_follower_seq: gauge(
    'projector',
    ['follower', 'market'],
    'Newest change that a reader of the feed has folded: the history database, or the sockets.',
  ),
  venue_sockets: gauge('ws-fanout', [], 'Connected WebSocket clients.'),
  venue_stream_bytes: gauge('projector', ['stream'], 'Size of a stream of the bus.'),
  venue_stream_last_seq: gauge(
    'projector',
    ['stream', 'market', 'role'],
    'Newest message of a stream; role is commands, feed or other.',
  ),
  venue_bus_server_up: gauge(
    'projector',
    ['server'],
    '1 while the server of NATS_MONITOR_URL reports to this process, else 0.',
  ),
  venue_bus_used_bytes: gauge('projector', [], 'Storage of the bus in use.'),
  venue_bus_max_bytes: gauge('projector', [], 'Storage that the bus may use.'),
  venue_database_bytes: gauge(
    'projector',
    ['file'],
    'Size of a database in DATA_DIR, its log included.',
  ),
  venue_orders_refused: gauge(
    'order-intake',
    MARKET,
    '1 while the intake refuses all new orders of a market, because the bus or the disk is full or its matcher is behind.',
  ),
  venue_intake_queue: gauge(
    'order-intake',
    MARKET,
    'Checked commands that wait to be written into the log of the market.',
  ),
  venue_disk_free_bytes: gauge(
    'order-intake',
    ['place'],
    'Free space of the file system of DATA_DIR (data) and of the streams of a bus on the same machine (bus).',
  ),
  venue_disk_reserve_bytes: gauge(
    'order-intake',
    ['place'],
    'Free space of the file system below which new orders are refused.',
  ),
  venue_chain_block_timestamp_seconds: gauge(
    'chain-reader',
    [],
    'Time of the newest block that the chain reader has processed.',
  ),
  venue_chain_silent_seconds: gauge(
    'chain-reader',
    [],
    'Time since the chain reader last processed a round.',
  ),
  venue_other_chain: gauge(
    'chain-reader',
    [],
    'Whether the node is on another chain than the deployment, so that its answers count as none: 1 or 0. Every process that reads the chain has it.',
  ),
  venue_clock_ahead_seconds: gauge(
    'chain-reader',
    [],
    'How far the clock is ahead of the newest block, as the chain reader saw it arrive; negative when it is behind.',
  ),
  venue_accounts_followed: gauge('chain-reader', [], 'Accounts that are followed on chain.'),
  venue_settlement_steps_total: counter(
    'executor',
    ['step'],
    'What the executor did: received, simulated, deferred, refused, unavailable, sent, mined, replaced, displaced, reversed.',
  ),
  venue_executor_queue: gauge('executor', [], 'Settlements that wait to be simulated and sent.'),
  venue_executor_ready: gauge('executor', [], '1 while a match could be settled, else 0.'),
  venue_gas_balance_wei: gauge(
    'executor',
    WALLET,
    'Funds of a wallet that pays gas, in wei; also of both submitters and the keeper. Rounded to a double.',
  ),
  venue_gas_reserve_wei: gauge(
    'executor',
    WALLET,
    'Funds below which the wallet submits nothing, in wei.',
  ),
  venue_lost_gas: gauge(
    'executor',
    [],
    'Gas that signers that are code have lost within the last hour, by matches that failed on the chain through them.',
  ),
  venue_lost_gas_top: gauge(
    'executor',
    ['signer', 'owner'],
    'The same of the five signers, with their owners, that have lost most.',
  ),
  venue_lost_gas_since_timestamp_seconds: gauge(
    'executor',
    [],
    'Unix time from which on the lost gas is counted: the start of the process.',
  ),
  venue_gas_paused: gauge(
    'deposit-submitter',
    WALLET,
    '1 while the wallet submits nothing to save gas, else 0; also of the withdrawal submitter and the keeper.',
  ),
  venue_upkeep_late_seconds: gauge(
    'keeper',
    ['job'],
    'How long the oldest piece of upkeep of a kind that is late has been due, by the time of the chain; absent while none is late.',
  ),
  venue_upkeep_total: counter(
    'keeper',
    ['job', 'outcome'],
    'Upkeep by its kind: sent, confirmed or reverted transactions, and attempts that were refused without one.',
  ),
  venue_upkeep_lost_wei: gauge(
    'keeper',
    [],
    'What upkeep that reverted on the chain has cost since the process started, in wei.',
  ),
} as const satisfies Readonly<Record<string, MetricSpec>>

export type MetricName = keyof typeof METRICS

/** Names of one kind. */
export type NameOf<Kind extends MetricSpec['kind']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never
}[MetricName]

/** Labels of a metric, each with its value. */
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof METRICS)[Name]['labels'][number], string>
>
