/**
 * How an order may match and rest, besides its terms: options that it may leave out. Each is declared here and nowhere else. The
 * fields of the body and of the record, their checks and refusals, the form in logs, the client's type and the documents follow.
 */

/** What every option states. */
interface OptionStatement {
  /** What the documents say of the field of a body, and of the member of a record. */
  readonly sent: string
  readonly shown: string
  /** Why any other value is refused. */
  readonly must: string
  /** Cause and cure of the refusal, as interface/error-codes.ts has them; absent where that code is not of orders alone. */
  readonly causeAndCure?: string
  /** Fields of other venues, and misspellings, that look like it: they do nothing, and a warning says so. */
  readonly mistaken: readonly string[]
}

/** One of several words. */
interface Choice extends OptionStatement {
  readonly choices: readonly [string, ...string[]]
  /** The one that is as good as none: no order keeps it. */
  readonly usual?: string
  /** The documents give the choices a name of their own. */
  readonly named?: { readonly id: string; readonly description: string }
}

/** Sent as true or false, kept when true. */
interface Flag extends OptionStatement {
  readonly flag: true
}

/** The id of a lease. */
interface OfLease extends OptionStatement {
  readonly lease: true
}

type Declaration = Choice | Flag | OfLease

/** The names of the options in a body, in the order in which they are checked and stand in a record. */
export const OPTION_NAMES = [
  'reduce_only',
  'time_in_force',
  'post_only',
  'stp',
  'stp_scope',
  'lease_id',
] as const

export type OptionName = (typeof OPTION_NAMES)[number]

/** The options by their names. */
export const orderOptions = {
  reduce_only: {
    flag: true,
    sent: 'Only shrink a position (PER-036); not on spot (ORD-066).',
    shown: 'It only shrinks the position of its account; absent otherwise.',
    must: 'reduce_only must be a boolean',
    causeAndCure: '400 | reduce_only is not a boolean. | Send true or false, or leave it out.',
    mistaken: [
      ...['reduceOnly', 'reduceonly', 'reduce-only'],
      ...['close_only', 'closeOnly', 'close_position'],
    ],
  },
  time_in_force: {
    choices: ['GTC', 'IOC', 'FOK'],
    usual: 'GTC',
    sent: 'Default `GTC`. `IOC`: what does not match at once is cancelled. `FOK`: it matches whole at once, or is cancelled (MAT-024, MAT-025).',
    shown: 'Absent: `GTC`.',
    must: 'time_in_force must be GTC, IOC or FOK',
    causeAndCure:
      '400 | time_in_force is none of GTC, IOC and FOK. | Send one of the three, or leave it out.',
    mistaken: ['timeInForce', 'timeinforce', 'time_inforce', 'tif', 'TIF'],
  },
  post_only: {
    choices: ['reject', 'slide'],
    named: {
      id: 'PostOnly',
      description:
        '`reject`: refused with 422 `post_only_would_cross`. `slide`: booked once, one tick behind the first order of the other side that it would meet.',
    },
    sent: 'Never take; not with `IOC` or `FOK`.',
    shown: 'It never takes; absent otherwise.',
    must: 'post_only must be "reject" or "slide"',
    causeAndCure:
      '400 | post_only is neither reject nor slide. | Send one of the two, or leave it out.',
    mistaken: ['postOnly', 'postonly', 'post-only', 'maker_only', 'makerOnly'],
  },
  stp: {
    choices: ['cancel_newest', 'cancel_oldest', 'cancel_both'],
    usual: 'cancel_newest',
    named: {
      id: 'SelfTradePrevention',
      description:
        'Which order is cancelled, with `cancel_reason` `self_trade`, where this one comes and would trade with an own order: this one (`cancel_newest`), the resting one (`cancel_oldest`; this one goes on), or both. Matches that it made before stand.',
    },
    sent: 'Default `cancel_newest`. The order that comes to the book decides, not the one that rests.',
    shown: 'Which order leaves where it meets an own one. Absent: `cancel_newest`.',
    must: 'stp must be "cancel_newest", "cancel_oldest" or "cancel_both"',
    causeAndCure:
      '400 | stp is none of the three choices. | Send cancel_newest, cancel_oldest or cancel_both, or leave it out.',
    mistaken: [
      ...['self_trade_prevention', 'self_trade_prevention_mode', 'selfTradePreventionMode'],
      ...['stp_mode', 'stpMode'],
    ],
  },
  stp_scope: {
    choices: ['subaccount', 'owner'],
    usual: 'subaccount',
    sent: 'Which orders are its own: those of its subaccount (default), or of all subaccounts of its owner. It is enough that one of the two orders asks for `owner`.',
    shown: 'It trades with no order of its owner; absent: with none of its subaccount.',
    must: 'stp_scope must be "subaccount" or "owner"',
    causeAndCure:
      '400 | stp_scope is neither subaccount nor owner. | Send one of the two, or leave it out.',
    mistaken: ['stpScope'],
  },
  lease_id: {
    lease: true,
    sent: 'Ends with the socket that `cancel_on_disconnect` gave this lease.',
    shown: 'The lease with which it ends.',
    must: 'lease_id must be the lease_id that the answer to cancel_on_disconnect names',
    mistaken: [],
  },
} as const satisfies Readonly<Record<OptionName, Declaration>>

type DeclaredOption<Name extends OptionName> = (typeof orderOptions)[Name]

/** The values of an option as a client sends them. */
export type SentOption<Name extends OptionName> =
  DeclaredOption<Name> extends { readonly choices: readonly (infer Word)[] }
    ? Word
    : DeclaredOption<Name> extends { readonly flag: true }
      ? boolean
      : string

type UsualOf<Name extends OptionName> =
  DeclaredOption<Name> extends { readonly usual: infer Word } ? Word : never

/** The values of an option that an order keeps: not the usual one. */
export type KeptOption<Name extends OptionName> =
  SentOption<Name> extends boolean ? true : Exclude<SentOption<Name>, UsualOf<Name>>

/** `stp_scope` as `stpScope`. */
export type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name

/** The options of an order, as it keeps them: absent as usual. */
export type OrderOptions = {
  readonly [Name in OptionName as Camel<Name>]?: KeptOption<Name>
}

/** The same as a client states them. */
export type SentOptions = {
  readonly [Name in OptionName as Camel<Name>]?: SentOption<Name>
}

/** One option as code goes through all of them. */
export interface OrderOption {
  readonly name: OptionName
  readonly key: keyof OrderOptions
  readonly declared: Declaration
  /** The words of a choice that an order keeps; empty for any other option. */
  readonly kept: readonly string[]
}

/** The member of an order that has an option. */
export const optionKey = (name: OptionName): keyof OrderOptions =>
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof OrderOptions

const keptOf = (declared: Declaration): readonly string[] =>
  'choices' in declared ? declared.choices.filter((word) => word !== declared.usual) : []

/** All options, in their order. A program that uses the names alone, as the client does, is built without their texts. */
export const ORDER_OPTIONS: readonly OrderOption[] = /* @__PURE__ */ OPTION_NAMES.map((name) => ({
  name,
  key: optionKey(name),
  declared: orderOptions[name],
  kept: keptOf(orderOptions[name]),
}))

/** The options whose refusal is of orders alone. */
type OptionRefusal = {
  [Name in OptionName]: DeclaredOption<Name> extends { readonly causeAndCure: string }
    ? Name
    : never
}[OptionName]

/** Codes of the refusals of options with their causes and cures. */
export const optionErrorCodes = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ ORDER_OPTIONS.flatMap(({ name, declared: { causeAndCure } }) =>
    causeAndCure === undefined ? [] : [[`invalid_${name}`, causeAndCure]],
  ),
) as Readonly<Record<`invalid_${OptionRefusal}`, string>>
