import CloudKit

/// Requests in flight, and their faults.
extension Simulation {
    mutating func send(_ index: Int, _ request: SyncRequest, _ user: String?) {
        requests += 1
        lastNumber += 1
        let number = lastNumber
        devices[index].request = number
        let isIdentity = if case .identifyUser = request { true } else { false }
        if devices[index].reason == .scheduled, now < devices[index].throttledUntil, !isIdentity {
            problems.append(
                "device \(index): a request at \(now), although the service asked for none before "
                    + "\(devices[index].throttledUntil)"
            )
        }
        let life = devices[index].life
        // The signed-in user is known without the network.
        if isIdentity {
            let response = SyncResponse.user(devices[index].account)
            queue.add(
                .response(index, life: life, request: number, response),
                at: now + wait(0...3)
            )
        } else if !devices[index].isOnline {
            reply(index, life, number, .failure(CKError(.networkUnavailable)))
        } else {
            queue.add(
                .arrival(index, life: life, request: number, request, user: user),
                at: now + wait(2...60)
            )
        }
    }

    private mutating func reply(_ index: Int, _ life: Int, _ request: Int, _ response: SyncResponse)
    {
        queue.add(.response(index, life: life, request: request, response), at: now + wait(2...60))
    }

    /// Delivers a request to the service, whether or not its device still runs.
    mutating func arrive(
        _ index: Int,
        _ life: Int,
        _ number: Int,
        _ request: SyncRequest,
        _ user: String?
    ) {
        guard let user, devices[index].account == user else {
            reply(index, life, number, .failure(CKError(.notAuthenticated)))
            return
        }
        if let fault = fault(index) {
            note("\(index) fault \(fault.code)")
            reply(index, life, number, .failure(fault))
            return
        }
        checkOwner(request, user)
        let isPartial = !isPeace && chance.one(of: 12)
        var partial = chance
        let response = cloud.response(request, user: user) { _ in
            isPartial && partial.one(of: 2)
                ? CKError(.serviceUnavailable, userInfo: [CKErrorRetryAfterKey: 1]) : nil
        }
        chance = partial
        pushChanges(of: request, user)
        if !isPeace, chance.one(of: 15) {
            note("\(index) response lost")
            reply(index, life, number, .failure(CKError(.networkFailure)))
        } else {
            reply(index, life, number, response)
        }
    }

    private mutating func fault(_ index: Int) -> CKError? {
        guard !isPeace, chance.one(of: 8) else { return nil }
        switch chance.number(0...3) {
        case 0: return CKError(.networkFailure)
        case 1: return CKError(.zoneBusy)
        default:
            let seconds = chance.number(2...15)
            return CKError(
                chance.one(of: 2) ? .requestRateLimited : .serviceUnavailable,
                userInfo: [CKErrorRetryAfterKey: Double(seconds)]
            )
        }
    }

    private mutating func checkOwner(_ request: SyncRequest, _ user: String) {
        guard case .modifyRecords(let batch) = request else { return }
        for record in batch.recordsToSave {
            let name = record.recordID.recordName
            if !name.hasPrefix(user), !ModelApp.commonNames.contains(name) {
                problems.append("the row \(name) reached the account of \(user)")
            }
        }
    }

    private mutating func pushChanges(of request: SyncRequest, _ user: String) {
        switch request {
        case .modifyZones, .modifyRecords:
            for index in devices.indices where devices[index].account == user {
                queue.add(.push(index), at: now + wait(2...100))
            }
        default: break
        }
    }
}
