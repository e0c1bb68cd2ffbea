import type { Bench } from './bench.js'

/** Every bench by name, in the order of execution; each is loaded on demand. */
export const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  verify: async () => (await import('./verify.bench.js')).verify,
  match: async () => (await import('./match.bench.js')).match,
  memory: async () => (await import('./memory.bench.js')).memory,
  append: async () => (await import('./append.bench.js')).append,
  replicas: async () => (await import('./replicas.bench.js')).replicas,
  project: async () => (await import('./project.bench.js')).project,
  read: async () => (await import('./read.bench.js')).read,
  book: async () => (await import('./book.bench.js')).book,
  checkpoint: async () => (await import('./checkpoint.bench.js')).checkpoint,
  recover: async () => (await import('./recover.bench.js')).recover,
  'order-path': async () => (await import('./order-path.bench.js')).orderPath,
  markets: async () => (await import('./markets.bench.js')).markets,
  cancel: async () => (await import('./cancel.bench.js')).cancel,
  settle: async () => (await import('./settle.bench.js')).settle,
  event: async () => (await import('./event.bench.js')).event,
  pollers: async () => (await import('./pollers.bench.js')).pollers,
  hostile: async () => (await import('./hostile.bench.js')).hostile,
  sockets: async () => (await import('./sockets.bench.js')).sockets,
  terminal: async () => (await import('./terminal.bench.js')).terminal,
  start: async () => (await import('./start.bench.js')).start,
  soak: async () => (await import('./soak.bench.js')).soak,
  'fan-out': async () => (await import('./fan-out.bench.js')).fanOut,
}
