import { refuse, type Refusal } from './refusals.js'

/** Refusals of demo accounts; their texts are fixed. */
export const demoRefusals = {
  off: refuse(404)('demo_accounts_off', 'this venue gives no demo accounts'),
  exhausted: refuse(409)(
    'demo_accounts_exhausted',
    'this devnet has given all of its demo accounts: begin a new one with ./venue reset',
  ),
  busy: refuse(429)(
    'demo_accounts_busy',
    'as many demo accounts were given within the last minute as may be: ask again in a minute',
  ),
  unavailable: refuse(503)(
    'demo_accounts_unavailable',
    'the accounts were not opened: ask again shortly',
  ),
} as const satisfies Record<string, Refusal>
