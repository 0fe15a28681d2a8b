import { acceptInvitation } from '../../commands/accept-invitation.ts'
import { addMember } from '../../commands/add-member.ts'
import { cancelPausedRun } from '../../commands/cancel-paused-run.ts'
import { changeAddress } from '../../commands/change-address.ts'
import { changeAgent } from '../../commands/change-agent.ts'
import { changeApiKey } from '../../commands/change-api-key.ts'
import { changeMember } from '../../commands/change-member.ts'
import { clearDatastore } from '../../commands/clear-datastore.ts'
import { colorOrganization } from '../../commands/color-organization.ts'
import { connectCredentials } from '../../commands/connect-credentials.ts'
import { createAgent } from '../../commands/create-agent.ts'
import { createApiKey } from '../../commands/create-api-key.ts'
import { createConnectLink } from '../../commands/create-connect-link.ts'
import { createDatastore } from '../../commands/create-datastore.ts'
import { createOrganization } from '../../commands/create-organization.ts'
import { createWelcomeLink } from '../../commands/create-welcome-link.ts'
import { decideOnApproval } from '../../commands/decide-on-approval.ts'
import { declineInvitation } from '../../commands/decline-invitation.ts'
import { deleteAgent } from '../../commands/delete-agent.ts'
import { deleteCredential } from '../../commands/delete-credential.ts'
import { deleteDatastore } from '../../commands/delete-datastore.ts'
import { deleteFile } from '../../commands/delete-file.ts'
import { endConsoleSession } from '../../commands/end-console-session.ts'
import { endConsoleSessions } from '../../commands/end-console-sessions.ts'
import { endRun } from '../../commands/end-run.ts'
import { enterOrganization } from '../../commands/enter-organization.ts'
import { eraseContent } from '../../commands/erase-content.ts'
import { eraseCredentials } from '../../commands/erase-credentials.ts'
import { eraseMemories } from '../../commands/erase-memories.ts'
import { erasePersonalData } from '../../commands/erase-personal-data.ts'
import { eraseSession } from '../../commands/erase-session.ts'
import { expireApproval } from '../../commands/expire-approval.ts'
import { findAddressHolder } from '../../commands/find-address-holder.ts'
import { finishContent } from '../../commands/finish-content.ts'
import { followUpload } from '../../commands/follow-upload.ts'
import { forkSession } from '../../commands/fork-session.ts'
import { grantCredits } from '../../commands/grant-credits.ts'
import { pauseRun } from '../../commands/pause-run.ts'
import { provisionUser } from '../../commands/provision-user.ts'
import { recordAccountChange } from '../../commands/record-account-change.ts'
import { recordKeyUsage } from '../../commands/record-key-usage.ts'
import { recordLogin } from '../../commands/record-login.ts'
import { recordMessageRead } from '../../commands/record-message-read.ts'
import { recordOutage } from '../../commands/record-outage.ts'
import { recordRefusal } from '../../commands/record-refusal.ts'
import { recordSteps } from '../../commands/record-steps.ts'
import { checkWelcomeLink, redeemWelcomeLink } from '../../commands/redeem-welcome-link.ts'
import { registerKeys } from '../../commands/register-keys.ts'
import { registerUser } from '../../commands/register-user.ts'
import { remember } from '../../commands/remember.ts'
import { removeDatastoreFile } from '../../commands/remove-datastore-file.ts'
import { removeMember } from '../../commands/remove-member.ts'
import { renameOrganization } from '../../commands/rename-organization.ts'
import { requestContent } from '../../commands/request-content.ts'
import { requireErasableUser } from '../../commands/require-erasable-user.ts'
import { requireProvisionedUser } from '../../commands/require-provisioned-user.ts'
import { reserveContentCredits } from '../../commands/reserve-content-credits.ts'
import { resumeRun } from '../../commands/resume-run.ts'
import { retryContent } from '../../commands/retry-content.ts'
import { revokeApiKey } from '../../commands/revoke-api-key.ts'
import { revokeConnectLinks } from '../../commands/revoke-connect-links.ts'
import { revokeUserKey } from '../../commands/revoke-user-key.ts'
import { sendMessage } from '../../commands/send-message.ts'
import { setSubscription } from '../../commands/set-subscription.ts'
import { settleReservation } from '../../commands/settle-reservation.ts'
import { startConsoleSession } from '../../commands/start-console-session.ts'
import { startContent } from '../../commands/start-content.ts'
import { storeCredential } from '../../commands/store-credential.ts'
import { submitContent } from '../../commands/submit-content.ts'
import { tellOutcome } from '../../commands/tell-outcome.ts'
import { uploadFiles } from '../../commands/upload-files.ts'
import type { Rules } from '../domain/agent/agent.ts'
import type { Transactor } from '../event-sourcing/transactor.ts'
import type { Clock } from '../ports/clock.ts'
import { destroyKey } from '../security/destroy-key.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'

type Uses = {
  transactor: Transactor
  clock: Clock
  blobs: SealedBlobs
  secrets: Secrets
  vault: Vault
  modelFault: Rules['modelFault']
}

/** Every command, with what it needs. */
export const commandsOf = (uses: Uses) => {
  const { transactor, clock, blobs, secrets, vault, modelFault } = uses
  const { load, transact } = transactor
  const streams = { load, transact }
  const { hashApiKey, hashEmail, earlierEmailHashes, hashLinkToken } = secrets
  const { hashIdentity, hashSubject, hashConsoleToken, hashWelcomeToken } = secrets
  const addressHolder = findAddressHolder({ load, hashEmail, earlierEmailHashes })
  const addresses = {
    load,
    transact,
    hashEmail,
    findAddressHolder: addressHolder,
    seal: vault.seal,
  }
  const register = registerUser({ ...addresses, clock })
  const address = changeAddress(addresses)
  const agent = createAgent({ load, transact, clock, modelFault })
  const accept = acceptInvitation({ transact })
  const subscribe = setSubscription({ transact })
  const grant = grantCredits({ load, transact, clock })
  const store = storeCredential({ load, transact, seal: vault.seal })
  const provisioned = requireProvisionedUser({ load })
  const erasing = { load, transact, destroyKey: destroyKey({ destroy: vault.destroy, clock }) }
  const startSession = startConsoleSession({ transact, hashConsoleToken })
  const forget = eraseMemories(erasing)
  const dropCredentials = eraseCredentials(erasing)
  return {
    acceptInvitation: accept,
    addMember: addMember({ load, transact, registerUser: register, seal: vault.seal }),
    cancelPausedRun: cancelPausedRun({ transact }),
    changeAddress: address,
    changeAgent: changeAgent({ load, transact, modelFault }),
    changeApiKey: changeApiKey(streams),
    changeMember: changeMember(streams),
    checkWelcomeLink: checkWelcomeLink({ load, hashWelcomeToken }),
    clearDatastore: clearDatastore({ load, transact, destroy: vault.destroy }),
    connectCredentials: connectCredentials({
      load,
      requireProvisionedUser: provisioned,
      storeCredential: store,
    }),
    createAgent: agent,
    createApiKey: createApiKey({ load, transact, clock, hashApiKey }),
    createDatastore: createDatastore({ transact, clock }),
    createConnectLink: createConnectLink({ load, transact, clock, hashLinkToken }),
    createOrganization: createOrganization({
      transact,
      clock,
      registerUser: register,
      createAgent: agent,
      setSubscription: subscribe,
      grantCredits: grant,
    }),
    createWelcomeLink: createWelcomeLink({ transact, hashWelcomeToken }),
    decideOnApproval: decideOnApproval({ transact, seal: vault.seal }),
    declineInvitation: declineInvitation({ transact }),
    deleteAgent: deleteAgent(streams),
    deleteCredential: deleteCredential({ transact }),
    deleteDatastore: deleteDatastore(streams),
    deleteFile: deleteFile(streams),
    endConsoleSession: endConsoleSession({ transact }),
    endConsoleSessions: endConsoleSessions({ transact }),
    endRun: endRun(transactor),
    enterOrganization: enterOrganization(streams),
    eraseContent: eraseContent({ transact }),
    eraseCredentials: dropCredentials,
    eraseMemories: forget,
    erasePersonalData: erasePersonalData({
      ...erasing,
      eraseMemories: forget,
      eraseCredentials: dropCredentials,
    }),
    eraseSession: eraseSession({ load, transact, destroy: vault.destroy }),
    expireApproval: expireApproval({ transact }),
    findAddressHolder: addressHolder,
    finishContent: finishContent({ transact }),
    followUpload: followUpload({ transact }),
    forkSession: forkSession({ transact }),
    grantCredits: grant,
    pauseRun: pauseRun({ transact }),
    provisionUser: provisionUser({ load, transact, registerUser: register, seal: vault.seal }),
    recordAccountChange: recordAccountChange({ transact }),
    recordKeyUsage: recordKeyUsage({ transact }),
    recordLogin: recordLogin({
      load,
      transact,
      registerUser: register,
      acceptInvitation: accept,
      changeAddress: address,
      findAddressHolder: addressHolder,
      hashIdentity,
      hashSubject,
    }),
    recordOutage: recordOutage({ transact }),
    recordMessageRead: recordMessageRead({ transact }),
    recordRefusal: recordRefusal({ transact }),
    recordSteps: recordSteps({ transact }),
    registerKeys: registerKeys({ load, transact, seal: vault.seal }),
    registerUser: register,
    remember: remember({ load, transact, clock, keyed: vault.keyed }),
    removeDatastoreFile: removeDatastoreFile({ transact }),
    removeMember: removeMember(streams),
    renameOrganization: renameOrganization({ transact }),
    colorOrganization: colorOrganization({ transact }),
    requestContent: requestContent({ transact }),
    requireErasableUser: requireErasableUser({ load }),
    requireProvisionedUser: provisioned,
    reserveContentCredits: reserveContentCredits({ transact }),
    resumeRun: resumeRun({ transact }),
    retryContent: retryContent({ transact }),
    revokeApiKey: revokeApiKey(streams),
    revokeConnectLinks: revokeConnectLinks({ transact }),
    revokeUserKey: revokeUserKey({ transact }),
    sendMessage: sendMessage(transactor),
    setSubscription: subscribe,
    settleReservation: settleReservation({ transact }),
    startConsoleSession: startSession,
    startContent: startContent({ transact }),
    storeCredential: store,
    submitContent: submitContent({ transact }),
    tellOutcome: tellOutcome({ transact, seal: vault.seal }),
    uploadFiles: uploadFiles({ transact, clock, blobs }),
    redeemWelcomeLink: redeemWelcomeLink({
      load,
      transact,
      hashWelcomeToken,
      startConsoleSession: startSession,
    }),
  }
}

export type Commands = ReturnType<typeof commandsOf>
