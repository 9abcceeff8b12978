export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/*.jest.js'],
  transform: {},
  // A loaded machine needs seconds to load the server.
  testTimeout: 60_000,
}
