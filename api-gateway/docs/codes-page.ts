import { errorCodes, socketCodes, type ErrorCode } from '../../interface/error-codes.js'
import { cancelReasons, holdReasons, marketReasons, type Reason } from '../../interface/reasons.js'

/** The page of all codes as Markdown, made of the tables of the interface: docs/CODES.md, and `/docs/codes`. */
export function codesPage(): string {
  const groups = [...errorCodes].flatMap(([group, codes]) => [
    '',
    `### ${group}`,
    '',
    ...errorTable(codes),
  ])
  return [
    '# Codes: what they mean, and what to do',
    '',
    'Every refusal is `{"error": …, "code": …}`; the code is stable, the text is for people. A word in angle brackets stands for',
    'one of several: `<kind>` is `deposit` or `withdrawal`. `GET /v1/orders/{order_id}/explain` tells the life of an order in the',
    'codes of the later tables.',
    '',
    '## Errors',
    ...groups,
    '',
    '### Error frames of the WebSocket',
    '',
    '| code | cause | cure |',
    '| - | - | - |',
    ...socketCodes.map(({ code, cause, cure }) => row([`\`${code}\``, cause, cure])),
    '',
    '## Why an order is held: `held_reason`',
    '',
    ...reasonTable(holdReasons),
    '',
    '## Why an order was cancelled: `cancel_reason`',
    '',
    'A cancel gives its own reason. An IOC or FOK order may also have the reason of the hold that it would have got.',
    '',
    ...reasonTable(cancelReasons),
    '',
    '## Why a market is held: `trading_status_reason`',
    '',
    "Of a paused market it is the operator's words; of one whose matches the chain refuses whatever the order, the name of the revert.",
    '',
    ...reasonTable(marketReasons),
    '',
  ].join('\n')
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const errorTable = (codes: readonly ErrorCode[]): string[] => [
  '| code | status | cause | cure |',
  '| - | - | - | - |',
  ...codes.map(({ code, status, cause, cure }) => row([`\`${code}\``, status, cause, cure])),
]

const reasonTable = (reasons: Readonly<Record<string, Reason>>): string[] => [
  '| code | meaning | what ends it |',
  '| - | - | - |',
  ...Object.entries(reasons).map(([code, { means, ends }]) => row([`\`${code}\``, means, ends])),
]
