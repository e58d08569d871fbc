# minipg in an image that holds nothing else: the program is linked statically.
#
# Until there are accounts with passwords the server listens on loopback and on its Unix socket only, and refuses any
# other -h. Loopback is the container's own, so a published port 5432 leads nowhere. Clients come in one of two ways,
# which docs/docker.md shows: through the socket in the volume /run/minipg, or by sharing a network with the
# container (--network host, or --network container:NAME).
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The SQL grammar is C, hence the external linker. netgo and osusergo leave no call that glibc answers by loading a
# library.
RUN CGO_ENABLED=1 go build -buildvcs=false -trimpath -tags netgo,osusergo \
	-ldflags '-linkmode external -extldflags "-static" -s -w' -o /out/usr/bin/minipg ./cmd/minipg
# A new volume takes owner and mode from the directory it is put over.
RUN mkdir -p -m 0755 /out/etc /out/var/lib /out/run && \
	mkdir -m 0700 /out/var/lib/minipg && mkdir -m 0755 /out/run/minipg && \
	echo 'minipg:x:10001:10001::/var/lib/minipg:/nonexistent' >/out/etc/passwd && \
	echo 'minipg:x:10001:' >/out/etc/group && \
	chown 10001:10001 /out/var/lib/minipg /out/run/minipg

FROM scratch
COPY --from=build /out /
USER 10001:10001
WORKDIR /var/lib/minipg
VOLUME ["/var/lib/minipg", "/run/minipg"]
# PostgreSQL's protocol, for who shares the network, and /metrics.
EXPOSE 5432 9187
# Fast shutdown: sessions end, transactions roll back, a checkpoint is written.
STOPSIGNAL SIGINT
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["/usr/bin/minipg", "ready"]
ENTRYPOINT ["/usr/bin/minipg"]
CMD ["serve", "-D", "/var/lib/minipg", "-k", "/run/minipg", "--metrics-listen", "0.0.0.0:9187"]
