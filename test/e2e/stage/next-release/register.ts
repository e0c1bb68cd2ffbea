import { register } from 'node:module'

/** `NODE_OPTIONS=--import <this file>` runs any program of the venue as the release after this one. */
register('./replace-modules.js', import.meta.url)
