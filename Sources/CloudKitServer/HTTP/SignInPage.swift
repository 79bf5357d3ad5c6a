import CloudKitServerCore

/// The page on which a user signs in, and the pages that report the result.
struct SignInPage {
    /// The container that the user signs in to.
    let container: String
    /// The query of the address, which the form sends along.
    let query: String
    /// The nonce that allows the page's own style and script, and no other.
    let nonce: String

    /// Returns the page with the sign-in form; users without a password are listed below it.
    func form(_ users: [ServiceUser] = [], name: String = "", error: String? = nil) -> String {
        let message =
            error.map { "<p id=\"error\" role=\"alert\" class=\"error\">\(Self.escape($0))</p>" }
            ?? ""
        let described = error == nil ? "" : " aria-describedby=\"error\" aria-invalid=\"true\""
        return page(
            "Sign in",
            """
            <h1>Sign in</h1>
            <p>to <strong>\(Self.escape(container))</strong></p>
            \(message)
            <form method="post" action="/sign-in?\(Self.escape(query))">
            <label for="name">Name or e-mail address</label>
            <input id="name" name="name" type="text" autocomplete="username" autocapitalize="none" \
            required value="\(Self.escape(name))"\(described)>
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" \
            required\(described)>
            <p><button type="submit">Sign in</button></p>
            </form>
            \(choices(users))
            """
        )
    }

    private func choices(_ users: [ServiceUser]) -> String {
        guard !users.isEmpty else { return "" }
        let buttons = users.map { user in
            let label = user.fullName.isEmpty ? user.emailAddress ?? "" : user.fullName
            return """
                <p><button name="user" value="\(Self.escape(user.userRecordName))">\
                \(Self.escape(label))</button></p>
                """
        }
        return """
            <form method="post" action="/sign-in?\(Self.escape(query))">
            <h2>Without a password</h2>
            <p>These users have none, and may sign in on this machine.</p>
            \(buttons.joined(separator: "\n"))
            </form>
            """
    }

    /// Returns the page that passes the token to the page that opened it, under the names that
    /// clients expect, and then closes itself.
    func done(token: String, origin: String?) -> String {
        // Without a page that receives the token, the user copies it.
        let copying =
            origin == nil
            ? "<p>The web auth token, for the program that requested it:</p>"
            : "<p>You can close this window.</p>"
        return page(
            "Signed in",
            """
            <h1>Signed in</h1>
            \(copying)
            <p\(origin == nil ? "" : " hidden")><code id="token" \
            data-origin="\(Self.escape(origin ?? ""))">\(Self.escape(token))</code></p>
            <script nonce="\(nonce)">
            const element = document.getElementById("token");
            const [token, origin] = [element.textContent, element.dataset.origin];
            if (window.opener && origin) {
                window.opener.postMessage({ckSession: token, ckWebAuthToken: token}, origin);
                window.close();
            }
            </script>
            """
        )
    }

    /// Returns a page that reports an invalid address.
    func problem(_ text: String) -> String {
        page(
            "Sign in",
            "<h1>Sign in</h1>\n<p role=\"alert\" class=\"error\">\(Self.escape(text))</p>"
        )
    }

    private func page(_ title: String, _ body: String) -> String {
        HTMLPage(nonce: nonce).text(title, body)
    }

    private static func escape(_ text: String) -> String { HTMLPage.escape(text) }
}
