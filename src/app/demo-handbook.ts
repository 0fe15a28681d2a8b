/** What the demo organization's knowledge base holds at first. */
export const demoHandbook = `# Handbook of the Demo organization

This handbook is the sample document of the demo DataStore. Ask the orchestrator about it, and the Librarian answers with a quotation and the place it is from.

## Office hours

The office is open from 8:00 to 18:00 on working days. Visitors sign in at the front desk and are met there by whoever invited them.

## Leave

Every employee has 28 days of paid leave a year. Up to five days that were not taken move into the next year and lapse at the end of March. Leave of more than two weeks is agreed with the team a month ahead.

### Sick leave

Whoever is ill tells the team before ten in the morning. A doctor's note is needed from the fourth day on.

## Travel and expenses

Trains are booked second class, flights only where the train takes more than six hours. Expenses are paid back within ten days after the receipts are handed in; meals are covered up to 40 euros a day.

## Equipment

Laptops are replaced every four years. A lost or stolen device is reported to the service desk within one hour, at any time of the day, so that it can be locked.

## Security

Passwords are kept in the password manager and nowhere else. Documents marked confidential do not leave the building, and are shredded when they are no longer needed.
`
