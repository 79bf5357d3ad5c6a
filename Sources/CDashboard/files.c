// The files of the page, as they stand in Page. A new file is named twice: here and in the table.
#include "CDashboard.h"

// Every compiler of Swift 6 knows the directive, and warns where C is older than it.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "Page/index.html"
};
static const unsigned char style_css[] = {
#embed "Page/style.css"
};
static const unsigned char app_js[] = {
#embed "Page/app.js"
};
static const unsigned char api_js[] = {
#embed "Page/api.js"
};
static const unsigned char dom_js[] = {
#embed "Page/dom.js"
};
static const unsigned char grid_js[] = {
#embed "Page/grid.js"
};
static const unsigned char overview_js[] = {
#embed "Page/overview.js"
};
static const unsigned char records_js[] = {
#embed "Page/records.js"
};
static const unsigned char record_js[] = {
#embed "Page/record.js"
};
static const unsigned char query_js[] = {
#embed "Page/query.js"
};
static const unsigned char values_js[] = {
#embed "Page/values.js"
};
static const unsigned char requests_js[] = {
#embed "Page/requests.js"
};
static const unsigned char faults_js[] = {
#embed "Page/faults.js"
};
static const unsigned char snapshots_js[] = {
#embed "Page/snapshots.js"
};
static const unsigned char changes_js[] = {
#embed "Page/changes.js"
};
static const unsigned char schema_js[] = {
#embed "Page/schema.js"
};
static const unsigned char users_js[] = {
#embed "Page/users.js"
};
static const unsigned char subscriptions_js[] = {
#embed "Page/subscriptions.js"
};
static const unsigned char graph_js[] = {
#embed "Page/graph.js"
};
static const unsigned char layout_js[] = {
#embed "Page/layout.js"
};
static const unsigned char network_js[] = {
#embed "Page/network.js"
};
static const unsigned char sharing_js[] = {
#embed "Page/sharing.js"
};
static const unsigned char sync_js[] = {
#embed "Page/sync.js"
};
static const unsigned char archive_js[] = {
#embed "Page/archive.js"
};
static const unsigned char icon_svg[] = {
#embed "Page/icon.svg"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const struct dashboard_file files[] = {
    FILE("index.html", index_html),
    FILE("style.css", style_css),
    FILE("app.js", app_js),
    FILE("api.js", api_js),
    FILE("dom.js", dom_js),
    FILE("grid.js", grid_js),
    FILE("overview.js", overview_js),
    FILE("records.js", records_js),
    FILE("record.js", record_js),
    FILE("query.js", query_js),
    FILE("values.js", values_js),
    FILE("requests.js", requests_js),
    FILE("faults.js", faults_js),
    FILE("snapshots.js", snapshots_js),
    FILE("changes.js", changes_js),
    FILE("schema.js", schema_js),
    FILE("users.js", users_js),
    FILE("subscriptions.js", subscriptions_js),
    FILE("graph.js", graph_js),
    FILE("layout.js", layout_js),
    FILE("network.js", network_js),
    FILE("sharing.js", sharing_js),
    FILE("sync.js", sync_js),
    FILE("archive.js", archive_js),
    FILE("icon.svg", icon_svg),
};

const struct dashboard_file *dashboard_file(size_t place) {
    return place < sizeof files / sizeof *files ? &files[place] : NULL;
}
