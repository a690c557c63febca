/** Dockerfiles to begin with, written for this program, by name. */

const binary = (base: string, user: string): string => `FROM golang:1 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /app .

FROM ${base}
COPY --from=build /app /app
${user}
CMD ["/app"]
`;

const copied = (base: string, prepare: string): string => `FROM ${base}
${prepare}COPY app /usr/local/bin/app
CMD ["app"]
`;

const node = (tag: string): string => `FROM node:${tag}
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
USER node
EXPOSE 8080
CMD ["npm", "start"]
`;

const python = (tag: string): string => `FROM python:${tag}
WORKDIR /app
ENV PYTHONUNBUFFERED=1
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
EXPOSE 8000
CMD ["python", "app.py"]
`;

const ruby = (tag: string, prepare: string): string => `FROM ruby:${tag}
${prepare}WORKDIR /app
COPY Gemfile Gemfile.lock ./
RUN bundle install
COPY . .
EXPOSE 3000
CMD ["bundle", "exec", "rackup", "--host", "0.0.0.0", "--port", "3000"]
`;

const java = (tag: string): string => `FROM eclipse-temurin:${tag} AS build
WORKDIR /src
COPY . .
RUN ./mvnw --batch-mode package

FROM eclipse-temurin:${tag.replace('jdk', 'jre')}
COPY --from=build /src/target/app.jar /app.jar
EXPOSE 8080
CMD ["java", "-jar", "/app.jar"]
`;

export const dockerfiles: ReadonlyMap<string, string> = new Map([
  ['Binary', copied('debian:stable-slim', '')],
  ['Binary-alpine', copied('alpine:3', 'RUN apk add --no-cache ca-certificates\n')],
  ['Binary-scratch', 'FROM scratch\nCOPY app /app\nUSER 65534:65534\nCMD ["/app"]\n'],
  ['Golang', binary('debian:stable-slim', 'USER nobody')],
  ['Golang-alpine', binary('alpine:3', 'USER nobody')],
  ['Golang-scratch', binary('scratch', 'USER 65534:65534')],
  ['HTTPd', 'FROM httpd:2.4\nCOPY public/ /usr/local/apache2/htdocs/\nEXPOSE 80\n'],
  ['Node', node('lts')],
  ['Node-alpine', node('lts-alpine')],
  ['OpenJDK', java('21-jdk')],
  ['OpenJDK-alpine', java('21-jdk-alpine')],
  ['PHP', 'FROM php:8-apache\nRUN docker-php-ext-install pdo_mysql\nCOPY . /var/www/html/\nEXPOSE 80\n'],
  ['Python', python('3')],
  ['Python-alpine', python('3-alpine')],
  ['Ruby', ruby('3', '')],
  ['Ruby-alpine', ruby('3-alpine', 'RUN apk add --no-cache build-base\n')],
  [
    'Rust',
    'FROM rust:1 AS build\nWORKDIR /src\nCOPY . .\nRUN cargo install --locked --path . --root /out\n\nFROM debian:stable-slim\nCOPY --from=build /out/bin/ /usr/local/bin/\nUSER nobody\nCMD ["app"]\n',
  ],
  [
    'Swift',
    'FROM swift:6 AS build\nWORKDIR /src\nCOPY . .\nRUN swift build -c release --static-swift-stdlib\n\nFROM debian:stable-slim\nCOPY --from=build /src/.build/release/app /usr/local/bin/app\nUSER nobody\nCMD ["app"]\n',
  ],
]);
