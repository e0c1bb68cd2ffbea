/**
 * Every code by which the venue says why an order, or a whole market, is not open: what it means, and what ends it. The
 * types of the engine, the OpenAPI document, `GET /v1/orders/{order_id}/explain` and docs/CODES.md follow from these
 * tables.
 */
export interface Reason {
  /** What is the case; a sentence. */
  readonly means: string
  /** What ends it, or what to do; a sentence. */
  readonly ends: string
}

/** `held_reason`: the order is kept out of the book and returns by itself. */
export const holdReasons = {
  signature_unchecked: {
    means: 'The chain has yet to be asked about the signature of the order.',
    ends: 'The venue asks again every two seconds: a valid signature opens the order, another cancels it.',
  },
  settlement_refused: {
    means: 'The chain refused a match of the order.',
    ends: 'It returns after 30 seconds. The third refusal, a minute or more after the first, cancels it.',
  },
  pair_waits: {
    means:
      'A match with an order that it crosses has failed, and the chain did not show which of the two was at fault.',
    ends: 'It looks again every ten seconds: it returns when the other order has left, or when the wait of the two signers is over, 30 seconds at first and at most an hour. No refusal is counted, and it is not cancelled for this.',
  },
  signer_waits: {
    means:
      'Code has signed the order, and what its signer and owner may have in flight is used up, or they wait after a match that its signature made fail.',
    ends: 'It looks again after a second and ten milliseconds for each live order of its owner if its signer and owner may have more than one match in flight, else after ten milliseconds for each live order of the market that code has signed, at least a second; after a failure it returns when the wait is over, 10 seconds at first and at most a day. An IOC order is cancelled for such a wait.',
  },
  expiring: {
    means:
      'The order, or the key that signed it, is in its last ten seconds, in which nothing is matched.',
    ends: 'It expires.',
  },
  continuing: {
    means:
      'The order matches more counterparts than one step takes, or too many matches of the market await settlement.',
    ends: 'It goes on within a second or so.',
  },
  insufficient_balance: {
    means:
      'The balances of its subaccount, as the chain was last seen, cannot pay for it beside what is matched already.',
    ends: 'It returns when the subaccount can pay: deposit, or cancel what reserves the funds.',
  },
  not_in_custody: {
    means:
      'The matching contract does not hold its subaccount for the owner, or is about to give it back.',
    ends: 'It returns when the matching contract holds the subaccount for the owner again.',
  },
  insufficient_margin: {
    means: 'The margin of its subaccount does not carry what a match of it would open.',
    ends: 'It returns when the margin suffices: add collateral, or reduce positions. Where refusals for margin are counted it is cancelled after the third.',
  },
  margin_unreadable: {
    means:
      'The chain does not state the margin of its subaccount now, so that only what reduces a position is matched.',
    ends: 'It returns when the margin can be read and suffices. No refusal is counted.',
  },
  open_interest_cap: {
    means: 'A match of it would raise the positions of the market above their cap.',
    ends: 'It returns when the positions of the market shrink or the cap is raised.',
  },
  reduce_only: {
    means: 'What the order may reduce is in matches that await settlement.',
    ends: 'It returns when they fail; it is cancelled when nothing is left to reduce.',
  },
  under_liquidation: {
    means: 'An auction of its subaccount runs.',
    ends: 'It returns when the auction has ended.',
  },
} as const satisfies Readonly<Record<string, Reason>>

export type HoldReason = keyof typeof holdReasons

/** `cancel_reason` where the venue ended the order; else it is what the cancel said, `unspecified` by default. */
export const cancelReasons = {
  unspecified: {
    means: 'The owner cancelled the order and gave no reason.',
    ends: 'Place another order if it is still wanted.',
  },
  self_trade: {
    means:
      'The order would have traded with another one of its own subaccount, or of its owner where one of the two asks for that with stp_scope.',
    ends: 'Cancel the other order first, or choose with stp which of the two is cancelled.',
  },
  replaced: {
    means: 'Another order of the owner has taken its place.',
    ends: 'Follow the order whose replaces_order_id names it.',
  },
  fee_bound_too_low: {
    means: 'The order would have taken liquidity at a fee above its signed worst_fee.',
    ends: 'Sign a worst_fee of at least the taker fee of the market, with some room.',
  },
  cancel_on_disconnect: {
    means:
      'The lease that the order names has ended: its socket is closed, or the venue could not renew it in time.',
    ends: 'Connect again, ask for another lease, and place the order with it.',
  },
  cancel_all_after: {
    means: 'The dead-man switch of the owner was not renewed in time.',
    ends: 'Set it again, and place the orders again.',
  },
  market_full: {
    means: 'The market keeps as many live orders as it can.',
    ends: 'Place it again later.',
  },
  market_disabled: {
    means: 'An operator has taken the market off the list.',
    ends: 'Place it again once the market is listed again.',
  },
  restored: {
    means:
      'The venue was restored from a backup that lacks what came after it; every order that was open is cancelled.',
    ends: 'Compare your fills with the chain, then place it again under another nonce.',
  },
  signature_revoked: {
    means:
      'The signature does not authorize the order any more: the session key ended, or the wallet contract rejects it.',
    ends: 'Sign again with the key of the owner, or with a session key that lasts longer than the order.',
  },
  signer_unreliable: {
    means:
      'Code has signed the order, and the signature of its signer and owner has made matches fail three times, each proven.',
    ends: 'See that the contract answers isValidSignature in a block as it does in a call, and place another order; it waits hidden until their wait is over.',
  },
  settlement_refused: {
    means: 'The chain refused three matches of the order.',
    ends: 'The reverts of its life name the rule of the chain; place another order that keeps it.',
  },
  insufficient_balance: {
    means:
      'The chain kept refusing matches of the order because its subaccount could not pay, or an IOC or FOK order could not be paid.',
    ends: 'Fund the subaccount before the next order.',
  },
  insufficient_margin: {
    means:
      'The margin of the subaccount did not carry the order, three times or at once for an IOC or FOK order.',
    ends: 'Add collateral, or place a smaller order.',
  },
  reduce_only_no_position: {
    means: 'A reduce-only order has nothing left to reduce.',
    ends: 'Nothing is to be done: the position is closed, or on the other side.',
  },
  settlement_reversed: {
    means: 'The chain has lost a settled match of the order for good, after the order had ended.',
    ends: 'Place another order; the amount of the lost fill was not traded.',
  },
  settlement_failed: {
    means: 'A settlement failed, and an IOC or FOK order takes nothing back into the book.',
    ends: 'Place another order.',
  },
  ioc_remainder: {
    means: 'What an IOC order could not match at once is cancelled.',
    ends: 'Place another order at a price that the book meets.',
  },
  fok_unfillable: {
    means:
      'A FOK order could not be matched whole at once, with funds, positions, caps and fill bands counted.',
    ends: 'Place a smaller order, or one at a worse price.',
  },
  post_only_would_cross: {
    means: 'A post-only order would have taken liquidity when it met another order.',
    ends: 'Place it again behind the best price of the other side, or with post_only slide.',
  },
} as const satisfies Readonly<Record<string, Reason>>

/** A reason that the venue itself gives; an IOC or FOK order may also be cancelled for the hold that it would have got. */
export type CancelReason = keyof typeof cancelReasons

/**
 * `trading_status_reason` of a market that is `held`. A market that is `paused` has the operator's own words, and a fault of
 * the chain the name of its revert.
 */
export const marketReasons = {
  clock_skew: {
    means:
      'The clock of the venue is more than 60 seconds off the newest block of the chain, or has jumped so far and was not compared with it since.',
    ends: 'It trades once the clock agrees with the chain again; nothing expires before.',
  },
  market_unread: {
    means: 'The venue has not read the market from the chain yet.',
    ends: 'It trades once the first read has come, within seconds.',
  },
  chain_stale: {
    means: 'What the venue knows of the market on the chain is too old.',
    ends: 'It trades once the node answers again.',
  },
  prices_stale: {
    means: 'The prices of the market on the chain are too old.',
    ends: 'It trades once the feeds of the chain publish again.',
  },
  trading_paused: {
    means: 'A guardian has paused the market on the chain.',
    ends: 'It trades once the pause is lifted on the chain; new orders are refused meanwhile.',
  },
  trading_disabled: {
    means:
      'The matching contract does not allow the trade module of the market, or its position cap is zero.',
    ends: 'It trades once the chain allows it.',
  },
  trading_ended: {
    means: 'The last trade time of the series has passed.',
    ends: 'Nothing: the series settles at its expiry.',
  },
  band_stale: {
    means: 'The fill band of the series was not read for too long.',
    ends: 'It trades once the node answers again.',
  },
  restored: {
    means: 'The market was restored from a backup that lacks what came after it.',
    ends: 'It trades once an operator has accepted the gap.',
  },
  executor_refused: {
    means:
      'The executor knows no such market, or another one than the log has, so no match can be settled.',
    ends: 'It trades once the executor has read the register of markets from which the log was opened.',
  },
  settlement_unavailable: {
    means:
      'The executor takes no settlement: a foreign transaction has used its key, it lacks gas money, or it does not answer.',
    ends: 'It trades once the executor takes settlements again; what is matched already awaits its settlement meanwhile, and the rest can be cancelled.',
  },
  wrong_wiring: {
    means: 'A contract of the market has no code, or refers to other contracts than the log names.',
    ends: 'It trades once the contracts are as the log has them. If the log has the wrong addresses, a new market has to be added.',
  },
  index_stale: {
    means: 'The index of the series on the chain is too old.',
    ends: 'It trades once the feeds of the chain publish again.',
  },
} as const satisfies Readonly<Record<string, Reason>>

export type MarketReason = keyof typeof marketReasons

/** The codes of a table with their meanings, as text of a schema. */
export const describeReasons = (reasons: Readonly<Record<string, Reason>>): string =>
  Object.entries(reasons)
    .map(([code, { means, ends }]) => `\`${code}\`: ${means} ${ends}`)
    .join('\n')
