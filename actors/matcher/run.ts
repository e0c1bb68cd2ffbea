import type { Bus, Subscription } from '../../bus-schemas/bus.js'
import type { Leader } from '../../core/change.js'
import type { Market } from '../../core/market.js'
import type { MatcherState } from '../../core/matcher-state.js'
import type { AskExecutor } from './ask-executor.js'
import type { AskReversals } from './ask-reversals.js'
import type { Checkpointer, CheckpointSettings } from './checkpointing.js'
import type { FeedReader } from './feed-reader.js'
import type { Live } from './go-live.js'
import type { MatcherFacts } from './observe.js'
import type { Unanswered } from './unanswered.js'

export interface MatcherOptions {
  readonly bus: Bus
  readonly market: Market
  readonly ask: AskExecutor
  readonly facts: MatcherFacts
  readonly nowMs: () => number
  readonly tickMs: number
  /** Called at most once, when the market can no longer be right; the process is to end. */
  readonly onFatal: (error: unknown) => void
  /** Follows silently and takes over when the leader has fallen silent, instead of leading at once. */
  readonly standby?: boolean
  /** How long a standby hears nothing of the leader before it takes over. */
  readonly silenceMs?: number
  readonly checkpoints?: CheckpointSettings
  /** Where and how often to ask which settlements were turned round. */
  readonly reversals?: { readonly ask: AskReversals; readonly everyMs: number }
  /** How long a settlement may be without an outcome until it counts as late. */
  readonly lateAfterMs?: number
  /** Tells this process from any other. */
  readonly leaderId?: string
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** What a matcher is while it runs. */
export interface Run {
  readonly options: Required<MatcherOptions>
  readonly state: MatcherState
  readonly feed: FeedPlace
  readonly reader: FeedReader
  readonly checkpointer: Checkpointer
  /** Told once, when this matcher has taken the market. */
  readonly onLeading: () => void
  /** Steps of the run that wait for something are taken one after the other. */
  readonly inTurn: <T>(step: () => Promise<T>) => Promise<T>
  /** Last message of the command log that is applied. */
  commandSeq: number
  /** Greatest term seen. */
  term: number
  /** Set once this matcher has taken the market: from then on it publishes and answers. */
  leader: Leader | undefined
  /** Answers whoever asks for the leader. */
  asked: Subscription | undefined
  /** Up to here the log is replay; whoever leads goes live behind it. */
  liveFrom: number
  live: Live | undefined
  readonly unanswered: Unanswered
  /** When the last message was applied, on the monotonic clock. */
  appliedAtMs: number
  /** When the feed was last known to be ours alone, on the monotonic clock. */
  provedAtMs: number
  /** Why the last block could not be published, while that is being tried again. */
  publishTrouble: string | undefined
  /** Looks at the leader since the last sign of it. */
  silentLooks: number
}

/** Up to where the feed is known to hold what the log gives. */
export interface FeedPlace {
  messageSeq: number
  changeSeq: number
  /** The bytes of that message. */
  data: Uint8Array
  /** Changes up to here cannot be compared, because the feed's beginning was trimmed away. */
  readonly trimmedUpTo: number
  /** Where the feed ended when this matcher came. */
  readonly endAtStart: { readonly messageSeq: number; readonly changeSeq: number }
}
