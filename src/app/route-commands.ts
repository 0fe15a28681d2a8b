import type { Commands } from './commands.ts'
import type { ReadYourWrites } from './read-your-writes.ts'

/** The commands that routes call: each resolves when the read models show its events. */
export const routeCommandsOf = (commands: Commands, { command }: ReadYourWrites) => ({
  acceptInvitation: command(commands.acceptInvitation),
  addMember: command(commands.addMember),
  changeAgent: command(commands.changeAgent),
  changeApiKey: command(commands.changeApiKey),
  changeMember: command(commands.changeMember),
  colorOrganization: command(commands.colorOrganization),
  connectCredentials: command(commands.connectCredentials),
  createAgent: command(commands.createAgent),
  createApiKey: command(commands.createApiKey),
  createConnectLink: command(commands.createConnectLink),
  createDatastore: command(commands.createDatastore),
  createOrganization: command(commands.createOrganization),
  decideOnApproval: command(commands.decideOnApproval),
  declineInvitation: command(commands.declineInvitation),
  deleteAgent: command(commands.deleteAgent),
  deleteCredential: command(commands.deleteCredential),
  deleteDatastore: command(commands.deleteDatastore),
  deleteFile: command(commands.deleteFile),
  endConsoleSession: command(commands.endConsoleSession),
  endConsoleSessions: command(commands.endConsoleSessions),
  enterOrganization: command(commands.enterOrganization),
  eraseMemories: command(commands.eraseMemories),
  erasePersonalData: command(commands.erasePersonalData),
  grantCredits: command(commands.grantCredits),
  provisionUser: command(commands.provisionUser),
  recordLogin: command(commands.recordLogin),
  removeMember: command(commands.removeMember),
  renameOrganization: command(commands.renameOrganization),
  retryContent: command(commands.retryContent),
  revokeApiKey: command(commands.revokeApiKey),
  revokeConnectLinks: command(commands.revokeConnectLinks),
  revokeUserKey: command(commands.revokeUserKey),
  setSubscription: command(commands.setSubscription),
  startConsoleSession: command(commands.startConsoleSession),
  storeCredential: command(commands.storeCredential),
  tellOutcome: command(commands.tellOutcome),
  uploadFiles: command(commands.uploadFiles),
  redeemWelcomeLink: command(commands.redeemWelcomeLink),
})
export type RouteCommands = ReturnType<typeof routeCommandsOf>

/** Commands of turns and of work in the background, which do not wait for the read models. */
export type InternalCommands = Omit<Commands, keyof RouteCommands>
