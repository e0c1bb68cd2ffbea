import { z } from 'zod'
import { notReadyBody } from './error-body.js'
import { type Operation, readRefusals, refused } from './operation.js'
import { address, integer, time } from './values.js'

const { 500: broken } = readRefusals

export const readTime: Operation = {
  id: 'readTime',
  tag: 'Venue',
  summary: 'Read the clock that judges expiries',
  responses: {
    200: {
      description: 'Now.',
      body: z
        .object({ now: time, unix_ms: z.int() })
        .meta({ id: 'Clock', description: 'One moment, twice.' }),
    },
    500: broken,
  },
}

const transfersHealth = z
  .object({
    status: z
      .enum(['open', 'paused', 'unavailable'])
      .describe('`unavailable`: whatever carries them out, or the chain, does not answer.'),
    paused: z
      .enum(['gas_reserve', 'gas_budget'])
      .optional()
      .describe('Why: the wallet is below its reserve, or the hour’s gas is spent.'),
    gas: z
      .object({
        signer: address.describe('The wallet that pays.'),
        balance_wei: integer.optional().describe('Absent while the chain cannot be read.'),
        reserve_wei: integer.describe('Below this nothing is submitted.'),
        hour_budget_wei: integer,
        hour_spent_wei: integer,
      })
      .optional(),
  })
  .meta({ id: 'TransfersHealth', description: 'Deposits or withdrawals, and the gas behind them.' })

export const readHealth: Operation = {
  id: 'readHealth',
  tag: 'Venue',
  summary: 'Read how far each market has come, and whether money moves in and out',
  responses: {
    200: {
      description: 'Always; `status` tells whether reads are up to date.',
      body: z
        .object({
          status: z.enum(['ok', 'degraded']),
          now: time,
          markets: z.record(
            z.string(),
            z.object({
              head_seq: z.int().min(0).optional().describe('Newest change that was published.'),
              projected_seq: z.int().min(0).describe('Newest change that reads show.'),
              lag: z.int().min(0).optional().describe('How many changes reads are behind.'),
              pending_settlements: z
                .int()
                .min(0)
                .optional()
                .describe(
                  'Matches whose outcome on the chain is not known yet. This and the next two are absent while the market’s matcher does not answer.',
                ),
              oldest_pending_settlement_s: z
                .int()
                .min(0)
                .optional()
                .describe('Seconds for which the oldest of them has waited; 0 without any.'),
              late_settlements: z
                .int()
                .min(0)
                .optional()
                .describe(
                  'How many have waited for longer than they should: then `status` is `degraded`. They resolve by themselves once the chain can be read.',
                ),
            }),
          ),
          deposits: transfersHealth,
          withdrawals: transfersHealth,
          chain: z
            .object({
              status: z.enum(['ok', 'degraded']),
              detail: z.string(),
              block_number: z.int().min(0).optional(),
              block_time: time.optional(),
            })
            .describe(
              'How well the venue sees what accounts hold. While it does not, trading goes on with what was seen last.',
            ),
        })
        .meta({
          id: 'Health',
          description: 'The venue market by market, and whether money moves in and out.',
        }),
    },
    500: broken,
  },
}

export const readLiveness: Operation = {
  id: 'readLiveness',
  tag: 'Venue',
  summary: 'Ask whether the gateway is alive',
  responses: {
    200: {
      description: 'It is.',
      body: z
        .object({ status: z.literal('ok') })
        .meta({ id: 'Alive', description: 'The process answers.' }),
    },
    500: broken,
  },
}

export const readReadiness: Operation = {
  id: 'readReadiness',
  tag: 'Venue',
  summary: 'Ask whether an order can be taken, matched, settled and read',
  responses: {
    200: {
      description: 'It can.',
      body: z
        .object({ status: z.literal('ready') })
        .meta({ id: 'Ready', description: 'Every part answers.' }),
    },
    500: broken,
    503: { description: 'What is missing.', body: notReadyBody },
  },
}

export const readDocument: Operation = {
  id: 'readDocument',
  tag: 'Documentation',
  summary: 'This document',
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      body: z.looseObject({ openapi: z.string() }),
      headers: ['Cache-Control'],
    },
    500: broken,
  },
}

export const readFeedDocument: Operation = {
  id: 'readFeedDocument',
  tag: 'Documentation',
  summary: 'The same for the WebSocket',
  responses: {
    200: {
      description: 'AsyncAPI 3.',
      body: z.looseObject({ asyncapi: z.string() }),
      headers: ['Cache-Control'],
    },
    500: broken,
  },
}

export const readDocsPage: Operation = {
  id: 'readDocsPage',
  tag: 'Documentation',
  summary: 'This document as a page to browse',
  responses: {
    200: {
      description: 'The page.',
      contentType: 'text/html',
      headers: ['Content-Security-Policy', 'Cache-Control'],
    },
    500: broken,
  },
}

export const readDocsAsset: Operation = {
  id: 'readDocsAsset',
  tag: 'Documentation',
  summary: 'A file of the page',
  path: z.object({ asset: z.string() }),
  responses: {
    200: { description: 'Script, style or icon.', contentType: '*/*', headers: ['Cache-Control'] },
    404: refused('No such file.'),
    500: broken,
  },
}
