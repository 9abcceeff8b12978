import { Type } from '@sinclair/typebox'

export const RecordingFile = Type.Unsafe<object>({
  type: 'object',
  description: 'A file for `payments-sandbox replay`.',
})
